#define _GNU_SOURCE
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

/* The option is called otherwise from 1.0 on. With 1 that is strict; 0.9 closes the connection without an answer then. */
#if MHD_VERSION >= 0x00097701
#define STRICTNESS MHD_OPTION_CLIENT_DISCIPLINE_LVL
#else
#define STRICTNESS MHD_OPTION_STRICT_FOR_CLIENT
#endif

enum {
    HEADER_BYTES = 32 << 10, /* that address, headers and the state of a connection may take */
    PATIENCE = 16,      /* a body that is too large is read up to so many times the limit: its sender sees the answer */
    LENGTH_DIGITS = 18, /* to libmicrohttpd, 2^64 - 1 means that a body never ends */
    BYTES_PER_MS = 16,  /* bodies and answers that are slower run out of time */
    TICK_MS = 250,      /* between looks at the clients */
    EVICTABLE_MS = 1000 /* without a request, where few connections are free */
};

/* A connection. libmicrohttpd limits only how long a client may be silent; a client that sends a byte now and then would
 * keep its connection for ever. */
typedef struct client {
    struct client *previous, *next;
    int socket;
    atomic_llong deadline;   /* in ms: then the connection is closed; 0: none, since the server has to act */
    atomic_llong waits_from; /* in ms: since when there is no complete head of a request; 0: there is one */
} client;

struct http_server {
    service *service;
    http_settings settings;
    struct MHD_Daemon *daemon;
    int loopback;
    int is_lax;           /* whether this libmicrohttpd is one that hides faults of a request: see next_piece */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ends;
    client *clients;
    int client_count, stop;
    pthread_t keeper; /* closes connections that are out of time */
};

/* A request on its way in. */
typedef struct incoming {
    char *text;             /* the target as it came */
    const char *target;     /* its path and query */
    const char *host;       /* of a target "http://HOST/...", NULL otherwise */
    const char *next_piece; /* where libmicrohttpd has what follows the target */
    char *body;
    size_t size, capacity;
    size_t received;  /* bytes of the body, kept or not */
    int begun;        /* headers were seen */
    int refused;      /* status of an answer that was decided before the body came; 0: none */
    int is_malformed; /* then the connection is closed */
    char why[256];
    double start;
} incoming;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long long now_ms(void)
{
    return (long long)(1e3 * now());
}

/* ---- time ---- */

/* The deadline of what began at `start`, and of which so many bytes passed. */
static void set_deadline(client *c, const http_server *server, long long start, size_t bytes)
{
    atomic_store(&c->deadline, start + 1000LL * server->settings.timeout + (long long)(bytes / BYTES_PER_MS));
}

static void wait_for_head(client *c, const http_server *server)
{
    long long start = now_ms();
    atomic_store(&c->waits_from, start);
    set_deadline(c, server, start, 0);
}

/* Its thread sees the end of the connection, and closes it. */
static void hang_up(client *c)
{
    atomic_store(&c->deadline, 0);
    atomic_store(&c->waits_from, 0);
    shutdown(c->socket, SHUT_RDWR);
}

static void on_connection(void *user, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode what)
{
    http_server *server = user;
    client *c = *state;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        *state = c = calloc(1, sizeof *c);
        if (!c) {
            shutdown(fd, SHUT_RDWR);
            return;
        }
        c->socket = fd;
        wait_for_head(c, server);
        pthread_mutex_lock(&server->lock);
        c->next = server->clients;
        if (c->next)
            c->next->previous = c;
        server->clients = c;
        server->client_count++;
        pthread_mutex_unlock(&server->lock);
    } else if (c) {
        pthread_mutex_lock(&server->lock);
        *(c->previous ? &c->previous->next : &server->clients) = c->next;
        if (c->next)
            c->next->previous = c->previous;
        server->client_count--;
        pthread_mutex_unlock(&server->lock);
        free(c);
        *state = NULL;
    }
}

/* Where few connections are free, those that wait for a request make room. */
static void *keep_time(void *user)
{
    http_server *server = user;
    int most = server->settings.max_connections;
    pthread_mutex_lock(&server->lock);
    while (!server->stop) {
        long long time = now_ms();
        int is_full = server->client_count >= most - most / 8;
        for (client *c = server->clients; c; c = c->next) {
            long long deadline = atomic_load(&c->deadline), waits_from = atomic_load(&c->waits_from);
            if ((deadline && deadline <= time) || (is_full && waits_from && waits_from <= time - EVICTABLE_MS))
                hang_up(c);
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&server->ends, &server->lock, &until);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

/* ---- who may ask ---- */

/* Takes the same time wherever the two differ. */
static int same_text(const char *a, const char *b)
{
    size_t length = strlen(a), other = strlen(b);
    unsigned different = length != other;
    for (size_t i = 0; i < length; i++)
        different |= (unsigned char)a[i] ^ (unsigned char)b[other ? i % other : 0];
    return different == 0;
}

int http_is_address(const char *host)
{
    struct in6_addr any;
    return inet_pton(AF_INET, host, &any) == 1 || inet_pton(AF_INET6, host, &any) == 1;
}

int http_is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

/* The length of the name or address that a Host header begins with, without brackets at *first; 0 where the header is
 * malformed. */
static size_t host_name(const char **first, const char *host)
{
    int bracket = host[0] == '[';
    static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    *first = host + bracket;
    size_t length = strspn(*first, bracket ? "0123456789abcdefABCDEF:." : name);
    const char *rest = *first + length;
    if (length == 0 || (bracket && *rest++ != ']'))
        return 0;
    if (*rest == ':')
        rest += 1 + strspn(rest + 1, "0123456789");
    return rest[strspn(rest, " \t")] ? 0 : length; /* blanks at the end are no part of a header */
}

int http_is_host(const char *text)
{
    const char *first;
    return *text && host_name(&first, text) == strlen(text);
}

/* Whether the Host header names this machine, or is allowed. A web page elsewhere can make a browser ask 127.0.0.1 under a
 * name of its own; the answers must not be readable there. */
static int is_local_name(const char *host, const arg_pairs *allowed)
{
    const char *first;
    char name[64];
    size_t length = host ? host_name(&first, host) : 0;
    if (length == 0)
        return 0;
    for (int i = 0; i < allowed->count; i++)
        if (strlen(allowed->item[i].value) == length && strncasecmp(allowed->item[i].value, first, length) == 0)
            return 1;
    if (length >= sizeof name)
        return 0;
    memcpy(name, first, length);
    name[length] = '\0';
    return strcasecmp(name, "localhost") == 0 || http_is_loopback(name);
}

static void refuse(incoming *in, int status, const char *format, ...) CLI_PRINTF(3, 4);
static void refuse(incoming *in, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    in->refused = status;
    vsnprintf(in->why, sizeof in->why, format, args);
    va_end(args);
}

/* ---- malformed requests ---- */

/* What a request is judged by. */
typedef struct head {
    const char *fault;      /* NULL: none */
    const char *next_piece; /* where the next header must be; NULL: anywhere */
    const char *length, *transfer, *host;
} head;

/* One header. libmicrohttpd before 1.0 parses in place, and hides a NUL, a line that ends with LF alone and one that is
 * continued on the next; but then the pieces that it gives do not follow each other. */
static enum MHD_Result check_header(void *user, enum MHD_ValueKind kind, const char *key, size_t key_size,
                                    const char *value, size_t value_size)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    head *h = user;
    (void)kind;
    if (key_size == 0 || strspn(key, token) != key_size)
        h->fault = "the name of a header has a character that is not allowed";
    else if (h->next_piece && key != h->next_piece)
        h->fault = "a header is continued on a second line, has a zero byte or does not end with CR LF";
    for (size_t i = 0; i < value_size && !h->fault; i++)
        if (((unsigned char)value[i] < 0x20 && value[i] != '\t') || value[i] == 0x7f)
            h->fault = "a header has a control character";
    if (h->fault)
        return MHD_NO;
    if (h->next_piece)
        h->next_piece = value + value_size + 2;
    const char **seen = strcasecmp(key, "Host") == 0                ? &h->host
                        : strcasecmp(key, "Content-Length") == 0    ? &h->length
                        : strcasecmp(key, "Transfer-Encoding") == 0 ? &h->transfer
                                                                    : NULL;
    if (seen && *seen)
        h->fault = "Host, Content-Length and Transfer-Encoding may be given only once";
    else if (seen)
        *seen = value;
    return h->fault ? MHD_NO : MHD_YES;
}

/* What is wrong with the request line and the headers, such that a proxy might read them in another way; NULL: nothing. */
static const char *find_fault(head *h, const incoming *in, const http_server *server, struct MHD_Connection *connection,
                              const char *method, const char *version)
{
    const char *first;
    *h = (head){0};
    if (server->is_lax) {
        h->next_piece = version + strlen(version) + 2;
        if (method + strlen(method) + 1 + strlen(in->text) + 1 != version || in->next_piece != version)
            return "the request line must be METHOD PATH HTTP/1.1, with single blanks";
    }
    for (const char *at = in->target; *at; at++)
        if ((unsigned char)*at <= ' ' || *at == 0x7f || *at == '#')
            return "the address has a blank, a control character or a '#': write them as %20 and so on";
    if (strstr(in->target, "%00"))
        return "the address has a zero byte";
    if (in->target[0] != '/')
        return "the address must be a path such as /top";
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
        return "the version must be HTTP/1.1 or HTTP/1.0";
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, check_header, h);
    if (h->fault)
        return h->fault;
    if (server->is_lax &&
        method + MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size !=
            h->next_piece + 2)
        return "a header is continued on a second line, has a zero byte or does not end with CR LF";
    if (!h->host && strcmp(version, "HTTP/1.1") == 0)
        return "the header Host is missing";
    if (in->host)
        h->host = in->host;
    if (h->host && host_name(&first, h->host) == 0)
        return "the header Host must be a name or an address, and a port";
    if (h->length && h->transfer)
        return "Content-Length and Transfer-Encoding exclude each other";
    if (h->length && (strspn(h->length, "0123456789") != strlen(h->length) || strlen(h->length) > LENGTH_DIGITS))
        return "Content-Length must be a number, of at most 18 digits";
    if (h->transfer && (strcasecmp(h->transfer, "chunked") != 0 || strcmp(version, "HTTP/1.1") != 0))
        return "Transfer-Encoding must be chunked, in HTTP/1.1";
    return NULL;
}

/* What can be said before the body has come: in->refused. */
static void check_headers(incoming *in, const http_server *server, struct MHD_Connection *connection,
                          const char *method, const char *version)
{
    int status;
    head h;
    const char *fault = find_fault(&h, in, server, connection, method, version);
    if (fault) {
        refuse(in, 400, "%s", fault);
        in->is_malformed = 1;
        return;
    }
    request_kind kind = request_route(&status, strcmp(method, "HEAD") == 0 ? "GET" : method, in->target);
    const char *type = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type");
    const char *given = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
    static const char bearer[] = "Bearer ";
    if (server->loopback && !server->settings.token && !is_local_name(h.host, server->settings.allowed_hosts))
        refuse(in, 403,
               "the header Host must name this machine, as localhost, 127.0.0.1 and [::1] do, not '%.80s': behind a "
               "proxy, start npgnn serve with --allow-host NAME",
               h.host ? h.host : "");
    else if (server->settings.token && kind != REQUEST_HEALTH && kind != REQUEST_PAGE &&
             (!given || strncasecmp(given, bearer, sizeof bearer - 1) != 0 ||
              !same_text(given + sizeof bearer - 1, server->settings.token)))
        refuse(in, 401, "a token is needed: send the header 'Authorization: Bearer TOKEN'");
    /* another web page may make a browser send a plain POST, but not one with this type */
    else if (status == 200 && strcmp(method, "POST") == 0 &&
             (!type || strncasecmp(type, "application/json", 16) != 0 || (type[16] && !strchr("; \t", type[16]))))
        refuse(in, 415, "the body must be JSON: send the header 'Content-Type: application/json'");
    else if (h.length && strtoull(h.length, NULL, 10) > (unsigned long long)server->settings.max_body)
        refuse(in, 413, "the body is too large: see --max-body");
}

/* ---- requests ---- */

static enum MHD_Result send_answer(struct MHD_Connection *connection, const incoming *in, answer *out)
{
    static char no_memory[] = "{\"error\":\"out of memory\"}";
    if (!out->text)
        *out = (answer){
            .status = 500, .type = "application/json", .text = no_memory, .size = sizeof no_memory - 1, .is_static = 1};
    struct MHD_Response *response = MHD_create_response_from_buffer(
        out->size, out->text, out->is_static ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
    if (!response) {
        if (!out->is_static)
            free(out->text);
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", out->type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (strncmp(out->type, "text/html", 9) == 0)
        MHD_add_response_header(response, "Content-Security-Policy",
                                "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                                "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                                "frame-ancestors 'none'");
    if (out->status == 401)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (out->status == 405)
        MHD_add_response_header(response, "Allow", request_methods(in->target));
    if (in->is_malformed) /* what follows may be no request */
        MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result result = MHD_queue_response(connection, (unsigned)out->status, response);
    MHD_destroy_response(response);
    return result;
}

/* Keeps a piece of the body, as far as that is allowed. */
static void keep(incoming *in, const http_server *server, const char *data, size_t size)
{
    if (in->refused)
        return;
    if (in->size + size > (size_t)server->settings.max_body) {
        refuse(in, 413, "the body is too large: see --max-body");
        return;
    }
    if (in->size + size > in->capacity) {
        size_t capacity = 2 * (in->size + size);
        char *larger = realloc(in->body, capacity);
        if (!larger) {
            refuse(in, 500, "out of memory");
            return;
        }
        in->body = larger;
        in->capacity = capacity;
    }
    memcpy(in->body + in->size, data, size);
    in->size += size;
}

static enum MHD_Result answer_request(http_server *server, struct MHD_Connection *connection, const incoming *in,
                                      client *c, const char *method)
{
    request_kind kind = REQUEST_KINDS;
    atomic_store(&c->deadline, 0);
    answer out = in->refused ? answer_error(in->refused, "%s", in->why)
                             : service_answer(server->service, &kind, strcmp(method, "HEAD") == 0 ? "GET" : method,
                                              in->target, in->body ? in->body : "", in->size);
    service_count(server->service, kind, out.status, now() - in->start);
    set_deadline(c, server, now_ms(), out.size);
    return send_answer(connection, in, &out);
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *data, size_t *data_size, void **state)
{
    http_server *server = user;
    incoming *in = *state;
    client *c = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    (void)url;
    if (!in || !in->target || !c)
        return MHD_NO; /* out of memory */
    if (!in->begun) {  /* the headers have come: a refusal waits for the body, which is not kept */
        in->begun = 1;
        in->start = now();
        service_active(server->service, 1);
        atomic_store(&c->waits_from, 0);
        set_deadline(c, server, now_ms(), 0);
        check_headers(in, server, connection, method, version);
        return in->is_malformed ? answer_request(server, connection, in, c, method) : MHD_YES;
    }
    if (*data_size > 0) {
        in->received += *data_size;
        keep(in, server, data, *data_size);
        *data_size = 0;
        set_deadline(c, server, (long long)(1e3 * in->start), in->received);
        return in->received > (size_t)PATIENCE * (size_t)server->settings.max_body ? MHD_NO : MHD_YES;
    }
    return answer_request(server, connection, in, c, method);
}

/* Called first: the address before it is decoded, which request_parse wants. A proxy may send it with the host. */
static void *on_address(void *user, const char *target, struct MHD_Connection *connection)
{
    (void)user;
    (void)connection;
    incoming *in = calloc(1, sizeof *in);
    size_t size = strlen(target) + 1;
    if (!in)
        return NULL;
    in->next_piece = target + size;
    in->text = malloc(2 * size);
    if (!in->text)
        return in;
    in->target = memcpy(in->text, target, size);
    if (strncasecmp(target, "http://", 7) == 0) {
        size_t length = strcspn(target + 7, "/?");
        char *host = in->text + size;
        memcpy(host, target + 7, length);
        host[length] = '\0';
        in->host = host;
        in->target = target[7 + length] ? in->text + 7 + length : "/";
    }
    return in;
}

static void on_end(void *user, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode why)
{
    http_server *server = user;
    incoming *in = *state;
    client *c = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    (void)why;
    if (c)
        wait_for_head(c, server);
    if (!in)
        return;
    if (in->begun)
        service_active(server->service, -1);
    free(in->text);
    free(in->body);
    free(in);
    *state = NULL;
}

/* ---- beginning and end ---- */

/* libmicrohttpd prints, for example, that a client has gone: of interest to nobody. */
static void ignore_log(void *user, const char *format, va_list args)
{
    (void)user;
    (void)format;
    (void)args;
}

static void free_server(http_server *server)
{
    pthread_mutex_destroy(&server->lock);
    pthread_cond_destroy(&server->ends);
    free(server);
}

static void stop_keeper(http_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->stop = 1;
    pthread_cond_signal(&server->ends);
    pthread_mutex_unlock(&server->lock);
    pthread_join(server->keeper, NULL);
}

int http_start(http_server **out, int *port, service *answers, const http_settings *settings)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)settings->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)settings->port)};
    int is_v6 = inet_pton(AF_INET6, settings->host, &v6.sin6_addr) == 1;
    if (!is_v6)
        inet_pton(AF_INET, settings->host, &v4.sin_addr);
    http_server *server = calloc(1, sizeof *server);
    if (!server)
        return print_error("out of memory");
    server->service = answers;
    server->settings = *settings;
    server->loopback = http_is_loopback(settings->host);
    server->is_lax = strncmp(MHD_get_version(), "0.", 2) == 0;
    int most = settings->max_connections, per_address = settings->max_per_address;
    if (per_address == 0)
        per_address = server->loopback ? most : (most + 3) / 4;
    pthread_mutex_init(&server->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&server->ends, &clock);
    pthread_condattr_destroy(&clock);
    if (pthread_create(&server->keeper, NULL, keep_time, server) != 0) {
        free_server(server);
        return print_error("cannot start a thread");
    }
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC |
                     MHD_USE_ERROR_LOG | (is_v6 ? MHD_USE_IPv6 : 0);
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL, MHD_OPTION_SOCK_ADDR,
        is_v6 ? (const struct sockaddr *)&v6 : (const struct sockaddr *)&v4, MHD_OPTION_URI_LOG_CALLBACK, on_address,
        NULL, MHD_OPTION_NOTIFY_COMPLETED, on_end, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)most, MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)per_address,
        STRICTNESS, server->is_lax ? 0 : 1, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)settings->timeout,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES, MHD_OPTION_END);
    if (!server->daemon) {
        int status = print_error("cannot listen on %s, port %d: %s", settings->host, settings->port, strerror(errno));
        stop_keeper(server);
        free_server(server);
        return status;
    }
    *port = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
    *out = server;
    return 0;
}

void http_stop(http_server *server, double seconds)
{
    MHD_socket listening = MHD_quiesce_daemon(server->daemon);
    double end = now() + seconds;
    while (service_active(server->service, 0) > 0 && now() < end)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    MHD_stop_daemon(server->daemon);
    if (listening != MHD_INVALID_SOCKET)
        close(listening);
    stop_keeper(server);
    free_server(server);
}
