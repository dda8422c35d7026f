/* Class labels of nodes. */
#include <string.h>

#include "base/number.h"
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

/* The label that a text is, when all of them are integers from 0 on. */
static int integer_label(int32_t *out, const char *text)
{
    int64_t value;
    if (!npi_number_parse_int(&value, text) || value < 0 || value > INT32_MAX)
        return 0;
    *out = (int32_t)value;
    return 1;
}

void npi_labels_take(int32_t **label, int32_t *classes, npi_labels *labels, const npgnn_env *env)
{
    int32_t value = 0, count = labels->texts ? npi_names_count(labels->texts) : 0;
    int integers = 1;
    for (int32_t i = 0; i < count && integers; i++)
        integers = integer_label(&value, npi_names_get(labels->texts, i));
    for (size_t i = 0; integers && i < labels->count; i++)
        if (labels->of[i] >= 0)
            integer_label(&labels->of[i], npi_names_get(labels->texts, labels->of[i]));
    *classes = count;
    *label = count > 0 ? labels->of : NULL;
    if (count > 0)
        labels->of = NULL;
    npi_labels_free(labels, env);
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

/* Where a line has the id and the label. */
typedef struct layout {
    char separator; /* 0: no line yet */
    int id;
} layout;

/* Cuts the line: the id, and the last of the other fields. */
static void split_line(const char **id, const char **label, char *line, const layout *columns)
{
    *id = *label = NULL;
    int at = 0;
    for (char *field; (field = npi_text_cut_field(&line, columns->separator)); at++)
        *(at == columns->id ? id : label) = field;
}

/* One line: 0, an error, or 1 for a line whose id is no node. */
static int read_label(npi_labels *labels, char *line, const layout *columns, npi_stream *stream, const npi_names *names,
                      int32_t n, npgnn_error *err)
{
    int32_t index;
    const char *id, *text;
    split_line(&id, &text, line, columns);
    if (!id || !text || !*text)
        return npi_stream_fail(stream, err, "a label line needs a node id and a label");
    int32_t node = find_node(id, names, n);
    if (node < 0) {
        npi_stream_fail(stream, err, "'%.60s' is not a node of the graph", id);
        return 1;
    }
    if (labels->of[node] >= 0)
        return npi_stream_fail(stream, err, "node '%.60s' has a label already", id);
    int code = npi_names_add(&index, labels->texts, text, strlen(text), err);
    if (code == 0)
        labels->of[node] = index;
    return code;
}

/* The first line may be a header. The Twitch graphs have two ids a line; the nodes are called by the one named new_id. */
static int read_first_label(npi_labels *labels, char *line, layout *columns, npi_stream *stream, const npi_names *names,
                            int32_t n, npgnn_error *err)
{
    const npgnn_env *env = npi_stream_env(stream);
    char *copy = npi_strdup(env, line, err), *rest = copy;
    if (!copy)
        return NPGNN_E_MEMORY;
    columns->separator = npi_text_find_separator(line);
    int at = 0;
    for (const char *field; (field = npi_text_cut_field(&rest, columns->separator)); at++)
        if (strcmp(field, "new_id") == 0)
            columns->id = at;
    npi_free(env, copy);
    int code = read_label(labels, line, columns, stream, names, n, err);
    return code > 0 ? 0 : code;
}

static int start_labels(npi_labels *labels, int32_t n, const npgnn_env *env, npgnn_error *err)
{
    int code = 0;
    for (int32_t i = 0; code == 0 && i < n; i++)
        code = npi_labels_add(labels, "", env, err);
    return code;
}

int npi_labels_read(int32_t **label, int32_t *classes, npi_stream *stream, const npi_names *names, int32_t n,
                    npgnn_error *err)
{
    const npgnn_env *env = npi_stream_env(stream);
    npi_labels labels = {0};
    layout columns = {0};
    char *line;
    int code = start_labels(&labels, n, env, err);
    while (code == 0 && n > 0 && (code = npi_stream_read_line(&line, stream, err)) > 0) {
        if (npi_text_is_skippable(line))
            code = 0;
        else if (columns.separator == 0)
            code = read_first_label(&labels, line, &columns, stream, names, n, err);
        else
            code = read_label(&labels, line, &columns, stream, names, n, err);
        code = code > 0 ? NPGNN_E_FORMAT : code;
    }
    if (code == 0)
        npi_labels_take(label, classes, &labels, env);
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
        npi_log(env, "%s: left out: a node has more than one label", npi_stream_name(stream));
        npi_labels_free(&labels, env);
        return 0;
    }
    if (code == 0 && labels.count != (size_t)n)
        code =
            npi_fail_at(err, NPGNN_E_MISMATCH, npi_stream_name(stream), 0, "%zu labels for %d nodes", labels.count, n);
    if (code == 0)
        npi_labels_take(label, classes, &labels, env);
    npi_labels_free(&labels, env);
    return code;
}
