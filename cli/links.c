/* Writes links as TSV, CSV or JSON lines. */
#include "links.h"

#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "json_text.h"
#include "message.h"
#include "progress_line.h"

/* ---- names ---- */

static void write_tsv(FILE *out, const char *name)
{
    static const char special[] = "\t\n\r\\", letters[] = "tnr\\";
    for (; *name; name++) {
        const char *found = strchr(special, *name);
        if (found)
            fprintf(out, "\\%c", letters[found - special]);
        else
            fputc(*name, out);
    }
}

static void write_csv(FILE *out, const char *name)
{
    if (!name[strcspn(name, ",\"\r\n")]) {
        fputs(name, out);
        return;
    }
    fputc('"', out);
    for (; *name; name++)
        fputs(*name == '"' ? "\"\"" : (char[]){*name, '\0'}, out);
    fputc('"', out);
}

/* ---- lines ---- */

void links_begin(const links_writer *w)
{
    static const char *const interval[] = {"spread", "low", "high"};
    char separator = w->format == LINKS_CSV ? ',' : '\t';
    if (w->format == LINKS_JSONL || (w->format == LINKS_TSV && !w->header))
        return;
    fprintf(w->out, "u%cv%c%s", separator, separator, w->raw ? "score" : "probability");
    for (int i = 0; w->spread && i < 3; i++)
        fprintf(w->out, "%c%s", separator, interval[i]);
    if (w->known)
        fprintf(w->out, "%cknown", separator);
    if (w->explainer)
        fprintf(w->out, "%creason", separator);
    fputc('\n', w->out);
}

/* The reasons as a JSON object. */
static void write_json_reasons(const links_writer *w, const npgnn_explanation *why)
{
    char buffer[12];
    fprintf(w->out, ",\"explanation\":{\"log_odds\":%.9g,\"baseline\":%.9g,\"text\":", why->log_odds, why->baseline);
    json_text_write(w->out, why->text);
    for (int r = 0; r < why->reason_count; r++) {
        fputs(r ? "," : ",\"reasons\":{", w->out);
        json_text_write(w->out, npgnn_reason_name((npgnn_reason)r));
        fprintf(w->out, ":%.9g", why->reasons[r]);
    }
    fputs("},\"neighbors\":[", w->out);
    for (int32_t i = 0; i < why->neighbor_count; i++) {
        fputs(i ? "," : "", w->out);
        json_text_write(w->out, npgnn_graph_name(w->graph, why->neighbors[i], buffer));
    }
    fputs("],\"features\":[", w->out);
    for (int32_t i = 0; i < why->feature_count; i++) {
        const char *name = npgnn_graph_column_name(w->graph, why->features[i]);
        fputs(i ? "," : "", w->out);
        if (name)
            json_text_write(w->out, name);
        else
            fprintf(w->out, "%d", (int)why->features[i]);
    }
    fprintf(w->out, "],\"walks\":%.0f,\"walk_lift\":%.6g", why->walks, why->walk_lift);
    for (int32_t i = 0; i < why->column_count; i++) {
        const npgnn_contribution *column = &why->columns[i];
        fputs(i ? ",{\"name\":" : ",\"columns\":[{\"name\":", w->out);
        json_text_write(w->out, column->name);
        fputs(",\"text\":", w->out);
        json_text_write(w->out, column->text);
        fprintf(w->out, ",\"value\":%.6g,\"average\":%.6g,\"log_odds\":%.9g}", column->value, column->average,
                column->log_odds);
    }
    fputs("]}", w->out);
}

static void write_json_line(const links_writer *w, const npgnn_link *link, const npgnn_explanation *why)
{
    char buffer[2][12];
    fputs("{\"u\":", w->out);
    json_text_write(w->out, npgnn_graph_name(w->graph, link->pair.u, buffer[0]));
    fputs(",\"v\":", w->out);
    json_text_write(w->out, npgnn_graph_name(w->graph, link->pair.v, buffer[1]));
    fprintf(w->out, ",\"%s\":%.6g", w->raw ? "score" : "probability",
            (double)(w->raw ? link->prediction.score : link->prediction.probability));
    if (w->spread)
        fprintf(w->out, ",\"spread\":%.6g,\"low\":%.6g,\"high\":%.6g", (double)link->prediction.spread,
                (double)link->prediction.low, (double)link->prediction.high);
    if (w->known)
        fprintf(w->out, ",\"known\":%s", link->known ? "true" : "false");
    if (w->explainer)
        write_json_reasons(w, why);
    fputs("}\n", w->out);
}

int links_write(const links_writer *w, const npgnn_link *link)
{
    char buffer[2][12];
    npgnn_explanation why = {.size = sizeof why};
    npgnn_error err = {0};
    if (w->explainer && npgnn_predictor_explain(&why, w->explainer, link->pair, &err) != 0)
        return print_error("%s", err.text);
    if (w->format == LINKS_JSONL) {
        write_json_line(w, link, &why);
        return 0;
    }
    char separator = w->format == LINKS_CSV ? ',' : '\t';
    void (*write_name)(FILE *, const char *) = w->format == LINKS_CSV ? write_csv : write_tsv;
    write_name(w->out, npgnn_graph_name(w->graph, link->pair.u, buffer[0]));
    fputc(separator, w->out);
    write_name(w->out, npgnn_graph_name(w->graph, link->pair.v, buffer[1]));
    fprintf(w->out, "%c%.6g", separator, (double)(w->raw ? link->prediction.score : link->prediction.probability));
    if (w->spread)
        fprintf(w->out, "%c%.6g%c%.6g%c%.6g", separator, (double)link->prediction.spread, separator,
                (double)link->prediction.low, separator, (double)link->prediction.high);
    if (w->known)
        fprintf(w->out, "%c%d", separator, link->known);
    if (w->explainer) {
        fputc(separator, w->out);
        write_name(w->out, why.text);
    }
    fputc('\n', w->out);
    return 0;
}

/* Lets all processes have what the first one needs to explain these links. */
static int gather(const links_writer *w, const npgnn_link *links, size_t count)
{
    npgnn_error err = {0};
    npgnn_pair *pairs = malloc((count + 1) * sizeof *pairs);
    int status = comm_settle(w->comm, pairs ? 0 : print_error("out of memory"));
    for (size_t i = 0; status == 0 && i < count; i++)
        pairs[i] = links[i].pair;
    if (status == 0 && npgnn_predictor_gather(w->explainer, pairs, count, &err) != 0)
        status = print_error("%s", err.text);
    free(pairs);
    return status;
}

int links_write_all(const links_writer *w, const npgnn_link *links, size_t count)
{
    enum { CHUNK = 8192 }; /* links whose evidence is gathered at a time */
    int status = 0, together = w->comm && w->explainer;
    progress_line_erase();
    for (size_t first = 0, size; status == 0 && first < count; first += size) {
        size = count - first < CHUNK ? count - first : CHUNK;
        if (together)
            status = gather(w, links + first, size);
        for (size_t i = first; status == 0 && comm_rank() == 0 && i < first + size; i++)
            status = links_write(w, &links[i]);
        if (together)
            status = comm_settle(w->comm, status);
    }
    return status;
}
