/* GraphML (Brandes, Eiglsperger, Herman, Himsolt, Marshall, GD 2001), parsed by expat. Accepted:
 *
 *   graphml = {key} graph
 *   key     = <key id= for= attr.name= attr.type=> [<default>] </key>        before the graph
 *   graph   = <graph edgedefault=> {node | edge} </graph>                    exactly one
 *   node    = <node id=> {data} </node>
 *   edge    = <edge source= target= directed=> {data} </edge>
 *   data    = <data key=> text </data>
 *
 * The attributes of nodes are a table, whose columns are named by attr.name and encoded as those of text are
 * (io/cells.h); a node without one has the default, or a missing value. Where the caller wants numbers as they are (the
 * encoding "raw"), numeric and boolean attributes are features, a missing one is 0, and the others are ignored. The
 * attribute "class" or "target", or a numeric "label", becomes the class label. The numeric attribute "weight" of edges
 * becomes their weight. Other elements are ignored.
 *
 * Refused: hyperedges, several or nested graphs, duplicate ids, data of undeclared keys, elements nested more than 32
 * deep, and declarations of entities, which can make a kilobyte expand to gigabytes. A default stands in the file once
 * and in the table as often as there are nodes: the text of the table must stay in proportion to the file. Time is
 * linear in the size of the file: a node costs as much as the data that it has and the columns of the table. */
#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "io/cells.h"
#include "io/readers.h"
#include "io/text.h"

#define MAX_DEPTH 32                        /* of nested elements */
#define BLOCK 65536                         /* bytes passed to the parser at once */
#define MAX_TAG (1 << 20)                   /* bytes of a tag with its attributes, of a comment and the like */
#define MAX_EXPANSION 16                    /* bytes of the table per byte of the file, */
#define UNCHECKED_BYTES ((uint64_t)4 << 20) /* from this many on */

typedef enum { IGNORED, FEATURE, LABEL } node_use;

/* How the data of one key is used. */
typedef struct attribute {
    node_use node;
    int weight;      /* 1: the weight of an edge */
    int number;      /* 1: its type is a number or boolean */
    int32_t column;  /* FEATURE: its column */
    char *fallback;  /* FEATURE: the value of a node without it, NULL: it is missing */
    char *name;      /* FEATURE */
    char *value;     /* FEATURE: that of the current node, NULL: it has none yet */
    int32_t last_of; /* the last node that has it */
} attribute;

typedef enum { OUTSIDE, IN_KEY, IN_NODE, IN_EDGE } place;

typedef struct reader {
    npi_stream *stream;
    const npgnn_env *env;
    XML_Parser parser;
    npgnn_error *err;
    int code; /* of the first failure */
    npi_edge_list *edges;
    npi_names *nodes, *keys;
    attribute *attributes; /* as many as keys */
    size_t attribute_capacity;
    int32_t attribute_count;
    int32_t columns; /* features */
    npi_labels labels;
    npi_cells cells;     /* of the nodes so far: ids and features, below a header */
    const char **fields; /* (1 + columns) of one row: where the node has no value, the default */
    int32_t *given;      /* (1 + columns) the attributes that the current node has, as far as they are features */
    int32_t given_count;
    uint64_t default_bytes;    /* of all defaults */
    int64_t values;            /* given so far */
    int raw;                   /* 1: numbers are used as they are */
    int external;              /* 1: the document type may be declared in another file */
    int depth, graphs, unused; /* unused: ignored attributes of nodes */
    place place;
    int32_t key; /* whose data or default is being read, -1: none */
    char *text;  /* the text of that element so far */
    size_t text_size, text_capacity;
    char *from, *to; /* ids of the current edge */
    float weight;
    int classified;   /* a key of class labels is declared */
    int32_t label_of; /* the last node that has a label */
} reader;

/* ---- errors: expat calls handlers that return nothing, so that the first failure is kept in the reader ---- */

/* E_FORMAT at the current line. */
static void fail(reader *r, const char *format, ...) NPI_PRINTF(2, 3);

static void fail(reader *r, const char *format, ...)
{
    char text[256];
    va_list args;
    if (r->code)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->code = npi_fail_at(r->err, NPGNN_E_FORMAT, npi_stream_name(r->stream),
                          (int64_t)XML_GetCurrentLineNumber(r->parser), "%s", text);
    XML_StopParser(r->parser, XML_FALSE);
}

/* Keeps the code of a call that has filled err itself. */
static void check(reader *r, int code)
{
    if (r->code || code == 0)
        return;
    r->code = code;
    XML_StopParser(r->parser, XML_FALSE);
}

/* The value of an XML attribute, or NULL. */
static const char *find(const XML_Char **pairs, const char *name)
{
    for (; pairs[0]; pairs += 2)
        if (strcmp(pairs[0], name) == 0)
            return pairs[1];
    return NULL;
}

/* ---- keys ---- */

static int is_one_of(const char *word, const char *const words[])
{
    for (int i = 0; word && words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            return 1;
    return 0;
}

/* Decides how the data of a key is used. */
static attribute classify(reader *r, const char *domain, const char *name, const char *type)
{
    static const char *const numbers[] = {"boolean", "int", "long", "float", "double", NULL};
    static const char *const classes[] = {"class", "target", NULL};
    attribute made = {.last_of = -1};
    int number = is_one_of(type, numbers), all = !domain || strcmp(domain, "all") == 0;
    made.number = number;
    if (all || strcmp(domain, "node") == 0) {
        if (!r->classified && (is_one_of(name, classes) || (number && strcmp(name, "label") == 0)))
            made.node = LABEL;
        else if (number || !r->raw)
            made.node = FEATURE;
        else
            r->unused++;
    }
    r->classified |= made.node == LABEL;
    made.weight = number && (all || strcmp(domain, "edge") == 0) && strcmp(name, "weight") == 0;
    return made;
}

/* <key>. Keys precede the graph, so that all columns are known at the first node. */
static void start_key(reader *r, const XML_Char **pairs)
{
    const char *id = find(pairs, "id"), *name = find(pairs, "attr.name");
    int32_t count = npi_names_count(r->keys), index = 0;
    if (!id)
        fail(r, "key without an id");
    if (r->code)
        return;
    check(r, npi_names_add(&index, r->keys, id, strlen(id), r->err));
    if (!r->code && index < count)
        fail(r, "key '%.60s' is declared twice", id);
    if (!r->code)
        check(r,
              npi_grow(r->env, &r->attributes, &r->attribute_capacity, (size_t)count, sizeof *r->attributes, r->err));
    if (r->code)
        return;
    /* features get columns in the order of their keys */
    attribute made = classify(r, find(pairs, "for"), name ? name : id, find(pairs, "attr.type"));
    if (made.node == FEATURE) {
        made.column = r->columns++;
        made.name = npi_strdup(r->env, name ? name : id, r->err);
        if (!made.name)
            check(r, NPGNN_E_MEMORY);
    }
    r->attributes[count] = made;
    r->attribute_count++;
    r->key = index;
    r->place = IN_KEY;
}

/* ---- nodes and edges ---- */

static const char *default_of(const reader *r, const attribute *a)
{
    return a->fallback ? a->fallback : r->raw ? "0" : "";
}

/* The header of the table, and the fields of a node without values: all keys are known. */
static void start_table(reader *r)
{
    int32_t columns = 1 + r->columns;
    r->fields = npi_alloc(r->env, (size_t)columns, sizeof *r->fields, r->err);
    r->given = npi_alloc(r->env, (size_t)columns, sizeof *r->given, r->err);
    if (!r->fields || !r->given) {
        check(r, NPGNN_E_MEMORY);
        return;
    }
    r->fields[0] = "id";
    for (int32_t i = 0; i < r->attribute_count; i++)
        if (r->attributes[i].node == FEATURE)
            r->fields[1 + r->attributes[i].column] = r->attributes[i].name;
    check(r, npi_cells_add_row(&r->cells, r->fields, columns, 0, r->err));
    for (int32_t i = 0; i < r->attribute_count; i++) {
        const attribute *a = &r->attributes[i];
        if (a->node == FEATURE) {
            r->fields[1 + a->column] = default_of(r, a);
            r->default_bytes += strlen(default_of(r, a)) + 1;
        }
    }
}

static void start_node(reader *r, const XML_Char **pairs)
{
    const char *id = find(pairs, "id");
    int32_t index = 0, before = npi_names_count(r->nodes);
    if (!id)
        fail(r, "node without an id");
    else
        check(r, npi_names_add(&index, r->nodes, id, strlen(id), r->err));
    if (!r->code && index < before)
        fail(r, "node '%.60s' occurs twice", id);
    if (!r->code && !r->fields)
        start_table(r);
    r->place = IN_NODE;
}

static void start_edge(reader *r, const XML_Char **pairs)
{
    const char *from = find(pairs, "source"), *to = find(pairs, "target"), *directed = find(pairs, "directed");
    if (!from || !*from || !to || !*to) {
        fail(r, "an edge needs a source and a target");
        return;
    }
    /* the strings of expat are valid during this call only */
    r->from = npi_strdup(r->env, from, r->err);
    r->to = npi_strdup(r->env, to, r->err);
    if (!r->from || !r->to)
        check(r, NPGNN_E_MEMORY);
    r->edges->directed |= directed && strcmp(directed, "true") == 0;
    r->weight = 1;
    r->place = IN_EDGE;
}

static void start_graph(reader *r, const XML_Char **pairs)
{
    const char *direction = find(pairs, "edgedefault");
    if (r->graphs++ > 0)
        fail(r, "second or nested graph: only files with one graph are supported");
    r->edges->directed |= direction && strcmp(direction, "directed") == 0;
}

/* </node>. Features that the node was not given have their default. */
static void end_node(reader *r)
{
    int32_t node = npi_names_count(r->nodes) - 1;
    int64_t line = (int64_t)XML_GetCurrentLineNumber(r->parser);
    r->fields[0] = npi_names_get(r->nodes, node);
    for (int32_t i = 0; i < r->given_count; i++) {
        const attribute *a = &r->attributes[r->given[i]];
        r->fields[1 + a->column] = a->value;
    }
    /* values that are not in the file must stay in proportion to its size: in their number, and in the bytes of their
     * text */
    uint64_t bytes = r->cells.used + r->default_bytes, read = (uint64_t)XML_GetCurrentByteIndex(r->parser);
    check(r, npi_table_check_size(r->stream, (int64_t)r->cells.rows * r->cells.fields, 0, r->values + r->cells.rows,
                                  r->err));
    if (!r->code && bytes > UNCHECKED_BYTES && bytes / MAX_EXPANSION > read)
        fail(r, "the defaults of keys, repeated for every node, take more than %d times the bytes of the file",
             MAX_EXPANSION);
    if (!r->code)
        check(r, npi_cells_add_row(&r->cells, r->fields, r->cells.fields, line, r->err));
    for (int32_t i = 0; i < r->given_count; i++) {
        attribute *a = &r->attributes[r->given[i]];
        r->fields[1 + a->column] = default_of(r, a);
        npi_free(r->env, a->value);
        a->value = NULL;
    }
    r->given_count = 0;
    if (!r->code && r->label_of != node)
        check(r, npi_labels_add(&r->labels, "", r->env, r->err));
    r->place = OUTSIDE;
}

static void free_edge(reader *r)
{
    npi_free(r->env, r->from);
    npi_free(r->env, r->to);
    r->from = r->to = NULL;
}

static void end_edge(reader *r)
{
    if (r->edges->weighted && !(r->weight > 0))
        fail(r, "weight %g must be positive", (double)r->weight);
    else
        check(r, npi_edges_add_ids(r->edges, r->from, r->to, r->weight, 0, r->stream, r->err));
    free_edge(r);
    r->place = OUTSIDE;
}

/* ---- data ---- */

static void start_data(reader *r, const XML_Char **pairs)
{
    const char *key = find(pairs, "key");
    r->key = key ? npi_names_find(r->keys, key, strlen(key)) : -1;
    if (r->key < 0)
        fail(r, "data of key '%.60s', which is not declared", key ? key : "");
    r->text_size = 0;
}

/* Collects the text of <data> and <default>; expat may deliver it in pieces. */
static void XMLCALL see_text(void *user, const XML_Char *text, int length)
{
    reader *r = user;
    for (int i = 0; i < length && r->key >= 0 && !r->code; i++) {
        check(r, npi_grow(r->env, &r->text, &r->text_capacity, r->text_size + 1, 1, r->err));
        if (!r->code)
            r->text[r->text_size++] = text[i];
    }
}

/* The collected text without surrounding white space. */
static const char *trimmed(reader *r)
{
    static const char blanks[] = " \t\r\n";
    if (r->text_size == 0)
        return "";
    r->text[r->text_size] = '\0';
    while (r->text_size > 0 && strchr(blanks, r->text[r->text_size - 1]))
        r->text[--r->text_size] = '\0';
    return r->text + strspn(r->text, blanks);
}

/* A numeric or boolean value. */
static float number(reader *r, const char *text)
{
    float value = 0;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return text[0] == 't';
    npi_number_result result = npi_number_parse_float(&value, text);
    if (result != NPI_NUMBER_OK)
        fail(r, "value '%.40s' %s", text, npi_number_reason(result));
    return value;
}

/* Copies the text of a feature. What is declared as a number must be one; flags are 0 and 1 where they are features as
 * they are. */
static void keep(reader *r, char **out, const attribute *a, const char *text)
{
    char digit[2] = "0";
    if (a->number && *text) {
        float value = number(r, text);
        digit[0] = (char)('0' + (value != 0));
        if (r->raw && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
            text = digit;
    }
    if (r->code)
        return;
    npi_free(r->env, *out);
    *out = npi_strdup(r->env, text, r->err);
    if (!*out)
        check(r, NPGNN_E_MEMORY);
}

static void end_node_data(reader *r, attribute *a, const char *text)
{
    int32_t node = npi_names_count(r->nodes) - 1;
    if (a->node == IGNORED)
        return;
    if (a->last_of == node) {
        fail(r, "the node has two values of '%.60s'", npi_names_get(r->keys, r->key));
        return;
    }
    a->last_of = node;
    if (a->node == FEATURE) {
        keep(r, &a->value, a, text);
        r->given[r->given_count++] = r->key; /* once per node and column: a second value is refused above */
        r->values++;
    } else {
        check(r, npi_labels_add(&r->labels, text, r->env, r->err));
        r->label_of = node;
    }
}

/* </data> or </default>. */
static void end_text(reader *r)
{
    attribute *a = &r->attributes[r->key];
    const char *text = trimmed(r);
    if (r->place == IN_NODE)
        end_node_data(r, a, text);
    else if (r->place == IN_EDGE && a->weight)
        r->weight = number(r, text);
    else if (r->place == IN_KEY && a->node == FEATURE)
        keep(r, &a->fallback, a, text);
}

/* ---- entities ---- */

/* An entity in text that only an external DTD could declare, which is not read. Without this, expat leaves it out. */
static void XMLCALL refuse_skipped(void *user, const XML_Char *name, int parameter)
{
    (void)parameter;
    fail(user, "entity '%.60s' is not declared in this file, and other files are not read", name);
}

static void XMLCALL start_doctype(void *user, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                                  int has_internal)
{
    reader *r = user;
    (void)name, (void)public;
    r->external = system || has_internal; /* an internal part may refer to others: %more; */
}

/* The same in the attributes of the tag at hand, which expat does not report: an & that none of the five entities of
 * XML and no number follows. */
static void check_attributes(reader *r)
{
    static const char *const known[] = {"amp;", "lt;", "gt;", "apos;", "quot;", "#", NULL};
    int offset = 0, size = 0;
    const char *text = XML_GetInputContext(r->parser, &offset, &size);
    const char *at = text ? text + offset : NULL, *end = at ? at + XML_GetCurrentByteCount(r->parser) : NULL;
    for (; at < end; at++) {
        int found = *at != '&';
        for (int i = 0; !found && known[i]; i++)
            found = (size_t)(end - at - 1) >= strlen(known[i]) && memcmp(at + 1, known[i], strlen(known[i])) == 0;
        if (!found) {
            int length = 0;
            while (length < 60 && at + 1 + length < end && at[1 + length] != ';')
                length++;
            fail(r, "entity '%.*s' is not declared in this file, and other files are not read", length, at + 1);
            return;
        }
    }
}

/* ---- elements ---- */

static void XMLCALL start_element(void *user, const XML_Char *qualified, const XML_Char **pairs)
{
    reader *r = user;
    /* expat writes a name with a namespace as NAMESPACE|NAME */
    const char *bar = strrchr(qualified, '|'), *name = bar ? bar + 1 : qualified;
    if (r->depth == 0 && strcmp(name, "graphml") != 0)
        fail(r, "not GraphML: the first element is '%.60s', not graphml", name);
    if (++r->depth > MAX_DEPTH)
        fail(r, "elements are nested more than %d deep", MAX_DEPTH);
    if (strcmp(name, "hyperedge") == 0)
        fail(r, "hyperedges are not supported");
    if (r->external)
        check_attributes(r);
    if (r->code)
        return;
    /* elements in other places, such as nodes within nodes, are ignored */
    if (strcmp(name, "graph") == 0)
        start_graph(r, pairs);
    else if (strcmp(name, "key") == 0 && r->graphs == 0 && r->place == OUTSIDE)
        start_key(r, pairs);
    else if (strcmp(name, "node") == 0 && r->graphs > 0 && r->place == OUTSIDE)
        start_node(r, pairs);
    else if (strcmp(name, "edge") == 0 && r->graphs > 0 && r->place == OUTSIDE)
        start_edge(r, pairs);
    else if (strcmp(name, "data") == 0 && (r->place == IN_NODE || r->place == IN_EDGE))
        start_data(r, pairs);
    else if (strcmp(name, "default") == 0 && r->place == IN_KEY)
        r->text_size = 0;
}

static void XMLCALL end_element(void *user, const XML_Char *qualified)
{
    reader *r = user;
    const char *bar = strrchr(qualified, '|'), *name = bar ? bar + 1 : qualified;
    r->depth--;
    if (r->code)
        return;
    if (strcmp(name, "node") == 0 && r->place == IN_NODE) {
        end_node(r);
    } else if (strcmp(name, "edge") == 0 && r->place == IN_EDGE) {
        end_edge(r);
    } else if (strcmp(name, "key") == 0 && r->place == IN_KEY) {
        r->key = -1;
        r->place = OUTSIDE;
    } else if (strcmp(name, "default") == 0 && r->place == IN_KEY) {
        end_text(r);
    } else if (strcmp(name, "data") == 0 && r->place != IN_KEY && r->key >= 0) {
        end_text(r);
        r->key = -1;
    }
}

static void XMLCALL refuse_entity(void *user, const XML_Char *name, int parameter, const XML_Char *value, int length,
                                  const XML_Char *base, const XML_Char *system, const XML_Char *public,
                                  const XML_Char *notation)
{
    (void)parameter, (void)value, (void)length, (void)base, (void)system, (void)public, (void)notation;
    fail(user, "entity '%.60s': declarations of entities are not allowed", name);
}

/* ---- the file ---- */

int npi_graphml_detect(const npi_stream *stream)
{
    size_t size, end = 0;
    const char *text = npi_text_peek(&size, stream);
    if (size == 0 || *text != '<')
        return 0;
    if (size > 1 && (text[1] == '?' || text[1] == '!')) /* a declaration or a comment */
        return 1;
    /* a line of N-Triples, "<a> <knows> <b> .", ends with a full stop, which no first line of an element does */
    while (end < size && text[end] != '\n' && text[end] != '\r')
        end++;
    while (text[end - 1] == ' ' || text[end - 1] == '\t')
        end--;
    return text[end - 1] != '.';
}

/* Passes the file to the parser block by block. expat begins a tag that is not complete anew with every block, which is
 * quadratic in its length: so that length has a limit. (Text between tags is passed on as it comes, at any length.) */
static int parse(reader *r)
{
    size_t got = BLOCK;
    int64_t read = 0, done = 0; /* bytes passed to the parser, and before the tag that it has begun */
    while (r->code == 0 && got == BLOCK) {
        void *block = XML_GetBuffer(r->parser, BLOCK);
        if (!block)
            return npi_fail(r->err, NPGNN_E_MEMORY, "out of memory while reading %s", npi_stream_name(r->stream));
        int code = npi_stream_read(block, &got, r->stream, BLOCK, r->err);
        if (code)
            return code;
        /* the last block is shorter than BLOCK, perhaps empty */
        if (XML_ParseBuffer(r->parser, (int)got, got < BLOCK) == XML_STATUS_ERROR && r->code == 0) {
            if (XML_GetErrorCode(r->parser) == XML_ERROR_NO_MEMORY)
                return npi_fail(r->err, NPGNN_E_MEMORY, "out of memory while reading %s", npi_stream_name(r->stream));
            fail(r, "invalid XML: %s", XML_ErrorString(XML_GetErrorCode(r->parser)));
        }
        int64_t at = (int64_t)XML_GetCurrentByteIndex(r->parser); /* -1: the parser waits for more */
        read += (int64_t)got;
        done = at > done ? at : done;
        if (read - done > MAX_TAG + BLOCK)
            fail(r, "a tag or comment is longer than %d bytes", MAX_TAG);
    }
    if (r->code == 0 && r->graphs == 0)
        fail(r, "no graph in this file");
    return r->code;
}

/* Moves features, labels and names to the table. */
static int make_table(npi_table *table, reader *r)
{
    int code;
    if (r->columns > 0 && r->cells.rows > 0) {
        code = npi_table_from_cells(table, &r->cells, npi_stream_name(r->stream), r->edges->how, r->err);
    } else {
        code = npi_table_empty(table, npi_names_count(r->nodes), r->env, r->err);
        table->names = npi_names_share(r->nodes);
    }
    if (code)
        return code;
    if ((code = npi_labels_take(&table->label, &table->classes, &r->labels, r->env, r->err)) != 0)
        return code;
    if (r->unused > 0)
        npi_log(r->env, "%s: ignoring node attributes that are not numbers: %d", npi_stream_name(r->stream), r->unused);
    return 0;
}

static void reader_free(reader *r)
{
    if (r->parser)
        XML_ParserFree(r->parser);
    npi_names_free(r->nodes);
    npi_names_free(r->keys);
    for (int32_t i = 0; i < r->attribute_count; i++) {
        npi_free(r->env, r->attributes[i].name);
        npi_free(r->env, r->attributes[i].value);
        npi_free(r->env, r->attributes[i].fallback);
    }
    npi_free(r->env, r->attributes);
    npi_free(r->env, r->fields);
    npi_free(r->env, r->given);
    npi_labels_free(&r->labels, r->env);
    npi_cells_free(&r->cells);
    npi_free(r->env, r->text);
    free_edge(r);
}

int npi_graphml_read(npi_edge_list *edges, npi_table *table, npi_stream *stream, npgnn_error *err)
{
    reader r = {.stream = stream, .env = npi_stream_env(stream), .err = err, .edges = edges, .key = -1, .label_of = -1};
    if (edges->how->bipartite)
        return npi_fail_at(
            err, NPGNN_E_ARGUMENT, npi_stream_name(stream), 0,
            "GraphML has one set of nodes: the edges of a two-sided graph must be text, JSON or a matrix");
    r.cells.env = *r.env;
    r.raw = edges->how->encoding && strcmp(edges->how->encoding, "raw") == 0;
    int code = npi_names_new(&r.nodes, r.env, err);
    if (code == 0)
        code = npi_names_new(&r.keys, r.env, err);
    r.parser = code == 0 ? XML_ParserCreateNS(NULL, '|') : NULL;
    if (code == 0 && !r.parser)
        code = npi_fail(err, NPGNN_E_MEMORY, "out of memory while reading %s", npi_stream_name(stream));
    if (code == 0) {
        XML_SetUserData(r.parser, &r);
        XML_SetElementHandler(r.parser, start_element, end_element);
        XML_SetCharacterDataHandler(r.parser, see_text);
        XML_SetEntityDeclHandler(r.parser, refuse_entity);
        XML_SetSkippedEntityHandler(r.parser, refuse_skipped);
        XML_SetStartDoctypeDeclHandler(r.parser, start_doctype);
        code = parse(&r);
    }
    if (code == 0)
        code = make_table(table, &r);
    reader_free(&r);
    return code;
}
