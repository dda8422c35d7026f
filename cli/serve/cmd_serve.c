/* npgnn serve: answers over HTTP for a graph that grows. Built without libmicrohttpd, the command says what is
 * missing. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "saved_model.h"
#include "settings.h"
#ifdef CLI_SERVE
#include "http.h"
#endif

typedef struct serve_settings {
    saved_model_settings model;
    common_settings common;
    const char *listen, *token_file, *journal;
    double link_rate, refresh_share, refresh_seconds;
    arg_pairs allowed_hosts;
    int max_connections, max_per_address, max_body, timeout;
} serve_settings;

#ifdef CLI_SERVE

enum { LONGEST_TOKEN = 512, SHORTEST_TOKEN = 16, LAST_SECONDS = 10 };

/* "ADDRESS:PORT", "[ADDRESS]:PORT", "ADDRESS", ":PORT" or "PORT" over the defaults. */
static int parse_listen(char *host, size_t size, int *port, const char *text)
{
    const char *first = text, *end = text + strlen(text), *digits = NULL; /* the address is first .. end */
    const char *colon = strchr(text, ':');
    if (text[0] == '[') {
        const char *bracket = strchr(text, ']');
        if (!bracket || (bracket[1] && bracket[1] != ':'))
            return print_usage_error("serve", "--listen: '%s' must be ADDRESS:PORT, such as 127.0.0.1:8080", text);
        first = text + 1;
        end = bracket;
        digits = bracket[1] ? bracket + 2 : NULL;
    } else if (colon && !strchr(colon + 1, ':')) { /* with two colons it is an address of IPv6 */
        end = colon;
        digits = colon + 1;
    } else if (!colon && strspn(text, "0123456789") == strlen(text)) { /* no address is a plain number */
        end = text;
        digits = text;
    }
    if (digits) {
        char *rest;
        long number = strtol(digits, &rest, 10);
        if (*digits < '0' || *digits > '9' || *rest || strlen(digits) > 5 || number > 65535)
            return print_usage_error("serve", "--listen: '%s' is not a port from 0 to 65535", digits);
        *port = (int)number;
    }
    if ((size_t)(end - first) >= size)
        return print_usage_error("serve", "--listen: '%s' is too long for an address", text);
    if (end > first) {
        memcpy(host, first, (size_t)(end - first));
        host[end - first] = '\0';
    }
    if (strcmp(host, "localhost") == 0)
        snprintf(host, size, "127.0.0.1");
    if (!http_is_address(host))
        return print_usage_error("serve", "--listen: '%s' is not an address such as 127.0.0.1, 0.0.0.0 or [::1]", host);
    return 0;
}

/* The first line of the file. */
static int read_token(char *token, size_t size, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return print_error("%s: cannot open: %s", path, strerror(errno));
    char *line = fgets(token, (int)size, file);
    int failed = ferror(file);
    fclose(file);
    if (!line && failed)
        return print_error("%s: cannot read: %s", path, strerror(errno));
    if (!line)
        token[0] = '\0';
    token[strcspn(token, "\r\n")] = '\0';
    size_t length = strlen(token);
    if (length < SHORTEST_TOKEN || length > size - 3 || strspn(token, " \t") > 0)
        return print_error("%s: the first line must be a token of %d to %zu characters, such as `openssl rand -hex 32` "
                           "prints",
                           path, SHORTEST_TOKEN, size - 3);
    return 0;
}

/* ---- signals ---- */

static int signal_pipe[2];

static void on_signal(int number)
{
    int before = errno;
    char byte = (char)number;
    ssize_t ignored = write(signal_pipe[1], &byte, 1);
    (void)ignored;
    errno = before;
}

/* From here on SIGTERM, SIGINT and SIGHUP are bytes in signal_pipe. */
static int listen_to_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return print_error("cannot make a pipe: %s", strerror(errno));
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    return 0;
}

/* Until SIGTERM or SIGINT. SIGHUP ends nothing: it comes when a terminal is closed, and from those who expect that a
 * server reads its configuration again, of which there is none. */
static void wait_for_end(int quiet)
{
    struct pollfd in = {.fd = signal_pipe[0], .events = POLLIN};
    char number = 0;
    while (number != SIGTERM && number != SIGINT) {
        while (poll(&in, 1, -1) < 0 && errno == EINTR) {
        }
        if (read(signal_pipe[0], &number, 1) == 1 && number == SIGHUP && !quiet)
            print_note("SIGHUP is ignored: there is nothing to read again; SIGTERM ends the server");
    }
}

/* ---- the command ---- */

static int serve(const npgnn_model *model, const npgnn_graph *graph, const serve_settings *settings, const char *host,
                 int port, const char *token)
{
    service *s = NULL;
    http_server *server = NULL;
    const service_settings how = {.journal = settings->journal,
                                  .threads = common_threads(&settings->common),
                                  .refresh_share = settings->refresh_share,
                                  .refresh_seconds = settings->refresh_seconds,
                                  .link_rate = settings->link_rate,
                                  .quiet = settings->common.quiet};
    const http_settings http = {.host = host,
                                .port = port,
                                .token = token,
                                .allowed_hosts = &settings->allowed_hosts,
                                .max_connections = settings->max_connections,
                                .max_per_address = settings->max_per_address,
                                .max_body = settings->max_body,
                                .timeout = settings->timeout};
    /* every connection has a thread: with a heap for each of them, memory would grow with their number */
    mallopt(M_ARENA_MAX, 2);
    /* a fixed threshold, else glibc raises it: large bodies would stay in the heaps, in pieces, after they are freed */
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    int status = service_new(&s, model, graph, &how);
    if (status == 0)
        status = listen_to_signals();
    if (status == 0)
        status = http_start(&server, &port, s, &http);
    if (status == 0) {
        int v6 = strchr(host, ':') != NULL;
        printf("npgnn: serving http://%s%s%s:%d/\n", v6 ? "[" : "", host, v6 ? "]" : "", port);
        fflush(stdout);
        wait_for_end(settings->common.quiet);
        if (!settings->common.quiet)
            print_note("shutting down: requests in progress have %d seconds to finish", LAST_SECONDS);
        http_stop(server, LAST_SECONDS);
    }
    service_free(s);
    return status;
}

static int run(void *given)
{
    const serve_settings *settings = given;
    npgnn_env env = common_noting_env(&settings->common);
    npgnn_model *model = NULL;
    npgnn_graph *graph = NULL;
    char host[64] = "127.0.0.1", token[LONGEST_TOKEN + 3] = "";
    int port = 8080, status = 0;
    if (settings->listen)
        status = parse_listen(host, sizeof host, &port, settings->listen);
    if (status)
        return status;
    if (!http_is_loopback(host) && !settings->token_file)
        return print_usage_error("serve",
                                 "--listen %s: other machines can reach this address: add --token-file FILE, so that "
                                 "only those who know the token can ask",
                                 host);
    for (int i = 0; i < settings->allowed_hosts.count; i++)
        if (!http_is_host(settings->allowed_hosts.item[i].value))
            return print_usage_error("serve", "--allow-host: '%s' must be a name or an IPv4 address, without a port",
                                     settings->allowed_hosts.item[i].value);
    if (settings->token_file)
        status = read_token(token, sizeof token, settings->token_file);
    if (status == 0)
        status = saved_model_load(&model, &graph, &settings->model, &env);
    if (status == 0) {
        npgnn_graph_info info = {.size = sizeof info};
        npgnn_graph_describe(&info, graph, NULL);
        if (info.nodes == 0)
            status = print_error("the graph has no nodes");
    }
    if (status == 0)
        saved_model_warn(model, settings->model.path);
    if (status == 0)
        status = serve(model, graph, settings, host, port, settings->token_file ? token : NULL);
    npgnn_graph_free(graph);
    npgnn_model_free(model);
    return status;
}

#else

static int run(void *given)
{
    (void)given;
    return print_error(
        "this npgnn was built without libmicrohttpd, which serve needs, as that of the Python package is: "
        "install libmicrohttpd-dev, and build the program from its sources (./run build)");
}

#endif

#define AT(member) offsetof(serve_settings, member)
static const arg_option options[] = {
    OPTION("listen", 0, ARG_TEXT, AT(listen), "[ADDRESS:]PORT",
           "Where to listen (default 127.0.0.1:8080). A port alone listens on 127.0.0.1. Port 0: any that is free. An "
           "address that other machines can reach needs --token-file."),
    OPTION(
        "token-file", 0, ARG_TEXT, AT(token_file), "FILE",
        "Answer only requests with the header 'Authorization: Bearer TOKEN', where TOKEN is the first line of FILE."),
    OPTION(
        "allow-host", 0, ARG_PAIR, AT(allowed_hosts), "NAME",
        "Also answer requests whose Host header is NAME, as those that come through a proxy. Without a token, a server "
        "on 127.0.0.1 answers only under the names of this machine. May be repeated.",
        .key = "allow-host"),
    OPTION("journal", 0, ARG_TEXT, AT(journal), "FILE",
           "Write every node and link that is added to FILE before the answer is sent, and replay FILE at the start."),
    OPTION("refresh-share", 0, ARG_REAL, AT(refresh_share), "X",
           "Share of new nodes and links at which the server reads the whole graph again, in the background (default "
           "0.01).",
           0, 1),
    OPTION("refresh-after", 0, ARG_REAL, AT(refresh_seconds), "SECONDS",
           "Also refresh after this many seconds without additions (default 5).", 0, 1e9),
    OPTION("link-rate", 0, ARG_REAL, AT(link_rate), "R",
           "Expected fraction of links among the pairs that are scored (default: as in the graph).", 1e-12, 0.999999),
    OPTION("max-connections", 0, ARG_INT, AT(max_connections), "N", "Maximum number of connections (default 256).", 1,
           100000),
    OPTION(
        "max-per-address", 0, ARG_INT, AT(max_per_address), "N",
        "Maximum number of connections from one address (default: a quarter of --max-connections; no limit where the "
        "server listens on 127.0.0.1, since a proxy there has one address for all).",
        1, 100000),
    OPTION("max-body", 0, ARG_INT, AT(max_body), "BYTES", "Maximum size of the body of a request (default 1048576).",
           1024, 1e9),
    OPTION("timeout", 0, ARG_INT, AT(timeout), "SECONDS",
           "Time for the headers of a request, for its body and for its answer, and for a connection that is silent "
           "(default 10). Bodies and answers have another second per 16 kB.",
           1, 3600),
    OPTION_CONTEXT(AT(model.context)),
    OPTION_THREADS(AT(common.threads)),
    OPTION_QUIET(AT(common.quiet)),
    OPTIONS_END,
};

const cli_command cmd_serve = {
    .args =
        {
            .name = "serve",
            .usage = "MODEL DATA [OPTION...]",
            .summary = "Answer over HTTP, with a page, for a graph that grows.",
            .description = "Loads MODEL (a file, or universal) and DATA once, and then answers requests in JSON: the "
                           "best partners of a node with reasons, probabilities of pairs, new nodes and links, which "
                           "count at once. The page at / shows it. GET /openapi.json describes all requests. SIGTERM "
                           "and SIGINT end the server after the requests that are being answered; SIGHUP is ignored.",
            .examples = "  npgnn serve universal debian-python\n"
                        "  npgnn serve universal my-graph --journal my-graph.journal\n"
                        "  npgnn serve universal my-graph --listen 0.0.0.0:8080 --token-file token\n"
                        "  curl 'http://127.0.0.1:8080/top?node=numpy&k=5&explain=1'\n",
            .operands = {MODEL_OPERAND(AT(model.path)), DATA_OPERAND(AT(model.data.name))},
            .groups = {{"Options", options, 0}, DATA_GROUP(AT(model.data))},
        },
    .defaults =
        &(const serve_settings){
            .refresh_share = 0.01, .refresh_seconds = 5, .max_connections = 256, .max_body = 1 << 20, .timeout = 10},
    .size = sizeof(serve_settings),
    .run = run,
};
