/* The HTTP side of the server, on libmicrohttpd: connections, limits, and who may ask. */
#ifndef CLI_SERVE_HTTP_H
#define CLI_SERVE_HTTP_H

#include "args.h"
#include "service.h"

typedef struct http_settings {
    const char *host;               /* numeric address, "127.0.0.1" or "::1" */
    int port;                       /* 0: any that is free */
    const char *token;              /* NULL: everybody may ask */
    const arg_pairs *allowed_hosts; /* names of Host besides those of this machine */
    int max_connections;
    int max_per_address; /* connections; 0: all of them on a loopback address, else a quarter */
    int max_body;        /* bytes */
    int timeout;         /* seconds for a head, a body or an answer, and without a byte from or to a client */
} http_settings;

typedef struct http_server http_server;

/* Starts to listen, on threads of its own. *port becomes the port. Returns 0, or the exit status after printing why. */
int http_start(http_server **out, int *port, service *answers, const http_settings *settings);

/* Accepts no more connections, waits up to `seconds` for the requests that are being answered, and ends. */
void http_stop(http_server *server, double seconds);

/* Whether a text is an address of IPv4 or IPv6. */
int http_is_address(const char *host);

/* Whether an address is one of this machine that no other can reach. */
int http_is_loopback(const char *host);

/* Whether a text can be the name in a Host header, without a port. */
int http_is_host(const char *text);

#endif
