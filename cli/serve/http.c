#define _GNU_SOURCE
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

enum {
    HEADER_BYTES = 32 << 10, /* that address, headers and the state of a connection may take */
    PATIENCE = 16 /* a body that is too large is read up to so many times the limit: its sender sees the answer */
};

struct http_server {
    service *service;
    http_settings settings;
    struct MHD_Daemon *daemon;
    int loopback;
};

/* A request on its way in. */
typedef struct incoming {
    char *target; /* path and query as they came */
    char *body;
    size_t size, capacity;
    size_t received; /* bytes of the body, kept or not */
    int begun;       /* headers were seen */
    int refused;     /* status of an answer that was decided before the body came; 0: none */
    char why[256];
    double start;
} incoming;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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

/* Whether the Host header names this machine. A web page elsewhere can make a browser ask 127.0.0.1 under a name of its
 * own; the answers must not be readable there. */
static int is_local_name(const char *host)
{
    char name[64];
    if (!host)
        return 0;
    size_t length = host[0] == '[' ? strcspn(host, "]") : strcspn(host, ":");
    size_t first = host[0] == '[';
    if (length >= sizeof name || length <= first)
        return 0;
    memcpy(name, host + first, length - first);
    name[length - first] = '\0';
    return strcasecmp(name, "localhost") == 0 || http_is_loopback(name);
}

static void refuse(incoming *in, int status, const char *why)
{
    in->refused = status;
    snprintf(in->why, sizeof in->why, "%s", why);
}

/* What can be said before the body has come: in->refused. */
static void check_headers(incoming *in, const http_server *server, struct MHD_Connection *connection,
                          const char *method)
{
    int status;
    request_kind kind = request_route(&status, method, in->target);
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    const char *type = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type");
    const char *given = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
    static const char bearer[] = "Bearer ";
    if (server->loopback && !server->settings.token && !is_local_name(host))
        refuse(in, 403, "the Host header must name this machine: localhost, 127.0.0.1 or [::1]");
    else if (server->settings.token && kind != REQUEST_HEALTH && kind != REQUEST_PAGE &&
             (!given || strncasecmp(given, bearer, sizeof bearer - 1) != 0 ||
              !same_text(given + sizeof bearer - 1, server->settings.token)))
        refuse(in, 401, "a token is needed: send the header 'Authorization: Bearer TOKEN'");
    /* another web page may make a browser send a plain POST, but not one with this type */
    else if (status == 200 && strcmp(method, "POST") == 0 &&
             (!type || strncasecmp(type, "application/json", 16) != 0 || (type[16] && !strchr("; \t", type[16]))))
        refuse(in, 415, "the body must be JSON: send the header 'Content-Type: application/json'");
    else if (length && strtoull(length, NULL, 10) > (unsigned long long)server->settings.max_body)
        refuse(in, 413, "the body is too large: see --max-body");
}

/* ---- requests ---- */

static enum MHD_Result send_answer(struct MHD_Connection *connection, answer *out)
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

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *data, size_t *data_size, void **state)
{
    http_server *server = user;
    incoming *in = *state;
    (void)url;
    (void)version;
    if (!in || !in->target)
        return MHD_NO; /* out of memory */
    if (!in->begun) {  /* the headers have come: a refusal waits for the body, which is not kept */
        in->begun = 1;
        in->start = now();
        service_active(server->service, 1);
        check_headers(in, server, connection, strcmp(method, "HEAD") == 0 ? "GET" : method);
        return MHD_YES;
    }
    if (*data_size > 0) {
        in->received += *data_size;
        keep(in, server, data, *data_size);
        *data_size = 0;
        return in->received > (size_t)PATIENCE * (size_t)server->settings.max_body ? MHD_NO : MHD_YES;
    }
    request_kind kind = REQUEST_KINDS;
    answer out = in->refused ? answer_error(in->refused, "%s", in->why)
                             : service_answer(server->service, &kind, strcmp(method, "HEAD") == 0 ? "GET" : method,
                                              in->target, in->body ? in->body : "", in->size);
    service_count(server->service, kind, out.status, now() - in->start);
    return send_answer(connection, &out);
}

/* Called first: the address before it is decoded, which request_parse wants. */
static void *on_address(void *user, const char *target, struct MHD_Connection *connection)
{
    (void)user;
    (void)connection;
    incoming *in = calloc(1, sizeof *in);
    if (in)
        in->target = strdup(target);
    return in;
}

static void on_end(void *user, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode why)
{
    http_server *server = user;
    incoming *in = *state;
    (void)connection;
    (void)why;
    if (!in)
        return;
    if (in->begun)
        service_active(server->service, -1);
    free(in->target);
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
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC |
                     MHD_USE_ERROR_LOG | (is_v6 ? MHD_USE_IPv6 : 0);
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL, MHD_OPTION_SOCK_ADDR,
        is_v6 ? (const struct sockaddr *)&v6 : (const struct sockaddr *)&v4, MHD_OPTION_URI_LOG_CALLBACK, on_address,
        NULL, MHD_OPTION_NOTIFY_COMPLETED, on_end, server, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)settings->max_connections, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)settings->timeout,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES, MHD_OPTION_END);
    if (!server->daemon) {
        int status = print_error("cannot listen on %s, port %d: %s", settings->host, settings->port, strerror(errno));
        free(server);
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
    free(server);
}
