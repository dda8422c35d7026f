/* Requests as `npgnn serve` gets them: "METHOD TARGET\nBODY". What is accepted has all that its route needs, and its
 * texts are whole. */
#include <stdlib.h>
#include <string.h>

#include "../cli/serve/request.h"
#include "fuzz.h"

static void check_request(const request *r)
{
    fuzz_check((unsigned)r->kind < REQUEST_KINDS);
    if (r->kind == REQUEST_TOP)
        fuzz_check(r->name && r->name[0] && r->k >= 1 && r->k <= REQUEST_MAX_K && (r->explain == 0 || r->explain == 1));
    if (r->kind == REQUEST_SCORE || r->kind == REQUEST_LINKS) {
        fuzz_check(r->count <= REQUEST_MAX_PAIRS);
        for (size_t i = 0; i < 2 * r->count; i++)
            fuzz_check(r->ends[i] && strlen(r->ends[i]) > 0);
    }
    if (r->kind == REQUEST_NODES) {
        fuzz_check(r->count <= REQUEST_MAX_NODES);
        for (size_t i = 0; i < r->count; i++) {
            fuzz_check(r->nodes[i].name && r->nodes[i].name[0]);
            for (int c = 0; c < r->nodes[i].cell_count; c++)
                fuzz_check(strcmp(r->nodes[i].cells[c].column, "id") != 0 &&
                           strlen(r->nodes[i].cells[c].text) < SIZE_MAX);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[512] = "", *text = malloc(size + 1);
    request r, again;
    fuzz_check(text);
    memcpy(text, data, size);
    text[size] = '\0';
    char *line = memchr(text, '\n', size), *blank = strchr(text, ' ');
    if (line && blank && blank < line) {
        *blank = *line = '\0';
        size_t body_size = size - (size_t)(line + 1 - text);
        int status = request_parse(&r, why, sizeof why, text, blank + 1, line + 1, body_size);
        fuzz_check(status == 200 || (status >= 400 && status < 500));
        if (status == 200) {
            check_request(&r);
            /* what goes to the journal comes back as the same */
            char *record = r.texts ? request_record(line + 1, body_size) : NULL;
            fuzz_check(!r.texts || (record && !strchr(record, '\n')));
            if (record) {
                fuzz_check(request_parse_body(&again, why, sizeof why,
                                              r.kind == REQUEST_SCORE ? REQUEST_SCORE : REQUEST_KINDS, record,
                                              strlen(record)) == 200);
                fuzz_check(again.count == r.count);
                request_free(&again);
            }
            free(record);
        } else {
            fuzz_check(why[0] && strlen(why) < sizeof why);
        }
        request_free(&r);
    }
    free(text);
    return 0;
}
