/* Writes links as TSV, CSV or JSON lines. */
#include "links.h"

#include <string.h>

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

/* The length of the UTF-8 character at the start of the text, or 0 where it is not valid. */
static int utf8_length(const unsigned char *text)
{
    int length = text[0] < 0x80 ? 1 : text[0] < 0xC2 ? 0 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    if (text[0] > 0xF4)
        return 0;
    for (int i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    /* overlong forms, surrogates, and code points above U+10FFFF */
    if ((text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xED && text[1] > 0x9F) ||
        (text[0] == 0xF0 && text[1] < 0x90) || (text[0] == 0xF4 && text[1] > 0x8F))
        return 0;
    return length;
}

static void write_json(FILE *out, const char *name)
{
    const unsigned char *text = (const unsigned char *)name;
    fputc('"', out);
    for (int length; *text; text += length > 0 ? length : 1) {
        length = utf8_length(text);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (*text < 0x20)
            fprintf(out, "\\u%04x", *text);
        else
            fprintf(out, "%s%.*s", *text == '"' || *text == '\\' ? "\\" : "", length, (const char *)text);
    }
    fputc('"', out);
}

/* ---- lines ---- */

void links_begin(const links_writer *w)
{
    if (w->format == LINKS_CSV)
        fprintf(w->out, "u,v,%s%s%s\n", w->raw ? "score" : "probability", w->spread ? ",spread,low,high" : "",
                w->known ? ",known" : "");
}

static void write_json_line(const links_writer *w, const npgnn_link *link, const char *u, const char *v, double value)
{
    fputs("{\"u\":", w->out);
    write_json(w->out, u);
    fputs(",\"v\":", w->out);
    write_json(w->out, v);
    fprintf(w->out, ",\"%s\":%.6g", w->raw ? "score" : "probability", value);
    if (w->spread)
        fprintf(w->out, ",\"spread\":%.6g,\"low\":%.6g,\"high\":%.6g", (double)link->prediction.spread,
                (double)link->prediction.low, (double)link->prediction.high);
    if (w->known)
        fprintf(w->out, ",\"known\":%s", link->known ? "true" : "false");
    fputs("}\n", w->out);
}

void links_write(const links_writer *w, const npgnn_link *link)
{
    char buffer[2][12];
    const char *u = npgnn_graph_name(w->graph, link->pair.u, buffer[0]);
    const char *v = npgnn_graph_name(w->graph, link->pair.v, buffer[1]);
    double value = (double)(w->raw ? link->prediction.score : link->prediction.probability);
    if (w->format == LINKS_JSONL) {
        write_json_line(w, link, u, v, value);
        return;
    }
    char separator = w->format == LINKS_CSV ? ',' : '\t';
    void (*write_name)(FILE *, const char *) = w->format == LINKS_CSV ? write_csv : write_tsv;
    write_name(w->out, u);
    fputc(separator, w->out);
    write_name(w->out, v);
    fprintf(w->out, "%c%.6g", separator, value);
    if (w->spread)
        fprintf(w->out, "%c%.6g%c%.6g%c%.6g", separator, (double)link->prediction.spread, separator,
                (double)link->prediction.low, separator, (double)link->prediction.high);
    if (w->known)
        fprintf(w->out, "%c%d", separator, link->known);
    fputc('\n', w->out);
}
