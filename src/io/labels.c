/* Class labels of nodes, and the two kinds of label files:
 *
 *   with ids      [header] {id separator {field separator} label}. A first line whose id is not a node is a header.
 *   without ids   {label}: line i is the label of node i; "nan" means none. OGB's files are such.
 */
#include <string.h>

#include "base/number.h"
#include "io/lines.h"
#include "io/readers.h"
#include "io/text.h"

int npi_labels_add(npi_labels *labels, const char *text, const npgnn_env *env, npgnn_error *err)
{
    int32_t index = -1;
    int code = labels->texts ? 0 : npi_names_new(&labels->texts, env, err);
    if (code == 0)
        code = npi_grow(env, &labels->of, &labels->capacity, labels->count, sizeof *labels->of, err);
    if (code == 0 && *text)
        code = npi_names_add(&index, labels->texts, text, strlen(text), err);
    if (code == 0)
        labels->of[labels->count++] = index;
    return code;
}

/* Parses a label that is an integer from 0 on. */
static int parse_integer_label(int32_t *out, const char *text)
{
    int64_t value;
    if (!npi_number_parse_int(&value, text) || value < 0 || value > INT32_MAX)
        return 0;
    *out = (int32_t)value;
    return 1;
}

int npi_labels_take(int32_t **label, int32_t *classes, npi_labels *labels, const npgnn_env *env, npgnn_error *err)
{
    int32_t *place = NULL;
    int code = labels->texts ? npi_names_sort(&place, labels->texts, 0, err) : 0;
    if (code)
        return code;
    for (size_t i = 0; place && i < labels->count; i++)
        labels->of[i] = labels->of[i] < 0 ? -1 : place[labels->of[i]];
    npi_free(env, place);
    int32_t value = 0, count = labels->texts ? npi_names_count(labels->texts) : 0;
    int integers = 1;
    for (int32_t i = 0; i < count && integers; i++)
        integers = parse_integer_label(&value, npi_names_get(labels->texts, i));
    for (size_t i = 0; integers && i < labels->count; i++)
        if (labels->of[i] >= 0)
            parse_integer_label(&labels->of[i], npi_names_get(labels->texts, labels->of[i]));
    *classes = count;
    *label = count > 0 ? labels->of : NULL;
    if (count > 0)
        labels->of = NULL;
    npi_labels_free(labels, env);
    return 0;
}

void npi_labels_free(npi_labels *labels, const npgnn_env *env)
{
    npi_names_free(labels->texts);
    npi_free(env, labels->of);
    memset(labels, 0, sizeof *labels);
}

/* ---- label files ---- */

static int32_t find_node(const char *id, const npi_names *names, int32_t n)
{
    int64_t index;
    if (names)
        return npi_names_find(names, id, strlen(id));
    return npi_number_parse_int(&index, id) && index >= 0 && index < n ? (int32_t)index : -1;
}

/* Reads one line: the id is in column `id_column`, the label is the last of the other columns. Returns 1, with err
 * filled, where the id is not a node. */
static int read_label(npi_labels *labels, char *line, char separator, int id_column, npi_stream *stream,
                      const npi_names *names, int32_t n, npgnn_error *err)
{
    const char *id = NULL, *text = NULL;
    int32_t index;
    int at = 0;
    for (char *field; (field = npi_text_cut_field(&line, separator)); at++)
        *(at == id_column ? &id : &text) = field;
    if (!id || !text || !*text)
        return npi_stream_fail(stream, err, "expected a node id and a label");
    int32_t node = find_node(id, names, n);
    if (node < 0) {
        npi_stream_fail(stream, err, "'%.60s' is not a node of the graph", id);
        return 1;
    }
    if (labels->of[node] >= 0)
        return npi_stream_fail(stream, err, "node '%.60s' has two labels", id);
    int code = npi_names_add(&index, labels->texts, text, strlen(text), err);
    if (code == 0)
        labels->of[node] = index;
    return code;
}

/* Which column has the ids: the one that the first line calls "new_id", as in the Twitch graphs, which have two ids
 * per line; otherwise the first. Returns -1 where memory is out. */
static int find_id_column(const char *line, char separator, const npgnn_env *env, npgnn_error *err)
{
    char *copy = npi_strdup(env, line, err), *rest = copy;
    int column = 0, at = 0;
    if (!copy)
        return -1;
    for (const char *field; (field = npi_text_cut_field(&rest, separator)); at++)
        if (strcmp(field, "new_id") == 0)
            column = at;
    npi_free(env, copy);
    return column;
}

int npi_labels_read(int32_t **label, int32_t *classes, npi_stream *stream, const npi_names *names, int32_t n,
                    npgnn_error *err)
{
    const npgnn_env *env = npi_stream_env(stream);
    npi_lines lines = {.stream = stream};
    npi_labels labels = {0};
    char *line;
    int id_column = -1, code = 0;
    for (int32_t i = 0; code == 0 && i < n; i++)
        code = npi_labels_add(&labels, "", env, err);
    while (code == 0 && n > 0 && (code = npi_lines_next_row(&line, &lines, err)) > 0) {
        int first = id_column < 0;
        if (first)
            id_column = find_id_column(line, lines.separator, env, err);
        code = id_column < 0 ? NPGNN_E_MEMORY
                             : read_label(&labels, line, lines.separator, id_column, stream, names, n, err);
        if (code > 0)
            code = first ? 0 : NPGNN_E_FORMAT; /* a first line whose id is not a node is a header */
    }
    if (code == 0)
        code = npi_labels_take(label, classes, &labels, env, err);
    npi_labels_free(&labels, env);
    return code;
}

int npi_labels_read_plain(int32_t **label, int32_t *classes, npi_stream *stream, int32_t n, npgnn_error *err)
{
    const npgnn_env *env = npi_stream_env(stream);
    npi_labels labels = {0};
    char *line;
    int code = 0, several = 0;
    while (code == 0 && !several && (code = npi_stream_read_line(&line, stream, err)) > 0) {
        const char *text = npi_text_cut_field(&line, ',');
        several = line != NULL;
        code = npi_labels_add(&labels, strcmp(text, "nan") == 0 ? "" : text, env, err);
    }
    if (code == 0 && several) {
        npi_log(env, "%s: ignoring the labels: nodes have more than one", npi_stream_name(stream));
        npi_labels_free(&labels, env);
        return 0;
    }
    if (code == 0 && labels.count != (size_t)n)
        code =
            npi_fail_at(err, NPGNN_E_MISMATCH, npi_stream_name(stream), 0, "%zu labels for %d nodes", labels.count, n);
    if (code == 0)
        code = npi_labels_take(label, classes, &labels, env, err);
    npi_labels_free(&labels, env);
    return code;
}
