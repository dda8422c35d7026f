/* The stack machine that reads pickles, protocols 2 to 5; pickle.h says what it accepts. */
#include "io/pickle.h"

#include <string.h>

#define MAX_FILE_SIZE ((size_t)2 << 30)
#define MAX_MARKS 64 /* open marks; real files need 3 */

typedef struct machine {
    npi_pickle *pickle;
    size_t at;        /* position of the next byte */
    size_t opcode_at; /* position of the current instruction */
    uint32_t *stack;
    size_t depth, stack_capacity;
    size_t marks[MAX_MARKS]; /* depth of the stack at each open mark */
    int mark_count;
    uint32_t *memo; /* value + 1, 0: empty */
    size_t memo_count, memo_capacity;
    uint64_t argument; /* of the current instruction */
    int detail;        /* tells similar instructions apart, see opcodes */
    int stopped;
    npgnn_error *err;
} machine;

typedef struct opcode {
    const char *name;
    int width;  /* bytes of its argument, an unsigned little-endian number */
    int detail; /* tells instructions apart that share a function */
    int (*run)(machine *m);
} opcode;

static int refuse(machine *m, const char *what)
{
    return npi_fail_at(m->err, NPGNN_E_FORMAT, m->pickle->name, 0, "byte %zu: %s", m->opcode_at, what);
}

/* ---- values and the stack ---- */

static int add_value(machine *m, npi_pickle_value value, uint32_t *index)
{
    npi_pickle *p = m->pickle;
    if (p->count >= UINT32_MAX - 1)
        return refuse(m, "too many values");
    int code = npi_grow(&p->env, &p->values, &p->capacity, p->count, sizeof *p->values, m->err);
    if (code)
        return code;
    *index = (uint32_t)p->count;
    p->values[p->count++] = value;
    return 0;
}

static int push(machine *m, uint32_t index)
{
    int code = npi_grow(&m->pickle->env, &m->stack, &m->stack_capacity, m->depth, sizeof *m->stack, m->err);
    if (code)
        return code;
    m->stack[m->depth++] = index;
    return 0;
}

static int push_value(machine *m, npi_pickle_value value)
{
    uint32_t index = 0;
    int code = add_value(m, value, &index);
    return code ? code : push(m, index);
}

/* The number of values above the last mark, which may be popped. */
static size_t available(const machine *m)
{
    return m->depth - (m->mark_count ? m->marks[m->mark_count - 1] : 0);
}

static int need(machine *m, size_t values)
{
    return available(m) < values ? refuse(m, "instruction takes more values than the stack has") : 0;
}

static npi_pickle_value *top(machine *m)
{
    return &m->pickle->values[m->stack[m->depth - 1]];
}

/* Pops stack[from .. depth) and appends it to the list. */
static int collect(machine *m, npi_pickle_value *list, size_t from)
{
    size_t more = m->depth - from, wanted = list->as.list.count + more;
    if (wanted > list->as.list.capacity) {
        /* exact at first, because most lists are built at once; then doubling */
        size_t capacity = more == wanted || wanted > 2 * list->as.list.capacity ? wanted : 2 * list->as.list.capacity;
        uint32_t *grown = npi_resize(&m->pickle->env, list->as.list.items, capacity, sizeof *grown, m->err);
        if (!grown)
            return NPGNN_E_MEMORY;
        list->as.list.items = grown;
        list->as.list.capacity = capacity;
    }
    if (more > 0)
        memcpy(list->as.list.items + list->as.list.count, m->stack + from, more * sizeof *m->stack);
    list->as.list.count = wanted;
    m->depth = from;
    return 0;
}

/* Removes the last mark; *from becomes the depth of the stack at it. */
static int close_mark(machine *m, size_t *from)
{
    if (m->mark_count == 0)
        return refuse(m, "instruction closes a mark that was not set");
    *from = m->marks[--m->mark_count];
    return 0;
}

/* ---- opcodes: constants ---- */

static int op_proto(machine *m)
{
    return m->argument > 5 ? refuse(m, "unsupported pickle protocol: 5 is the newest supported one") : 0;
}

static int op_frame(machine *m)
{
    return m->argument > m->pickle->size - m->at ? refuse(m, "frame is longer than the file") : 0;
}

static int op_bool(machine *m)
{
    npi_pickle_value value = {.kind = NPI_PICKLE_INT, .as.integer = m->detail};
    return push_value(m, value);
}

/* detail: 1 where the argument is signed, which only that of 4 bytes is */
static int op_int(machine *m)
{
    int64_t integer = (int64_t)m->argument;
    if (m->detail && integer > INT32_MAX)
        integer -= (int64_t)1 << 32;
    npi_pickle_value value = {.kind = NPI_PICKLE_INT, .as.integer = integer};
    return push_value(m, value);
}

static int op_long(machine *m)
{
    uint64_t size = m->argument;
    if (size > 8)
        return refuse(m, "integer of more than 64 bits");
    if (size > m->pickle->size - m->at)
        return refuse(m, "the file ends within an integer");
    npi_dtype type = {'i', (int)size, 0};
    npi_pickle_value value = {.kind = NPI_PICKLE_INT};
    if (size > 0)
        value.as.integer = npi_dtype_read_int(m->pickle->bytes + m->at, type);
    m->at += size;
    return push_value(m, value);
}

/* detail: BYTES or TEXT */
static int op_string(machine *m)
{
    npi_pickle_value value = {.kind = (npi_pickle_kind)m->detail};
    uint64_t size = m->argument;
    if (size > m->pickle->size - m->at)
        return refuse(m, "string is longer than the file");
    value.as.string.bytes = m->pickle->bytes + m->at;
    value.as.string.size = (size_t)size;
    m->at += (size_t)size;
    return push_value(m, value);
}

/* ---- opcodes: containers ---- */

static int op_mark(machine *m)
{
    if (m->mark_count == MAX_MARKS)
        return refuse(m, "values are nested too deeply");
    m->marks[m->mark_count++] = m->depth;
    return 0;
}

static int push_empty(machine *m, npi_pickle_kind kind)
{
    npi_pickle_value value = {.kind = kind};
    return push_value(m, value);
}

/* detail: NONE, TUPLE, LIST or DICT */
static int op_empty(machine *m)
{
    return push_empty(m, (npi_pickle_kind)m->detail);
}

static int push_tuple(machine *m, size_t from)
{
    npi_pickle_value tuple = {.kind = NPI_PICKLE_TUPLE};
    int code = collect(m, &tuple, from);
    if (code == 0)
        code = push_value(m, tuple);
    if (code)
        npi_free(&m->pickle->env, tuple.as.list.items);
    return code;
}

/* detail: the size, or 0 for all values above the mark */
static int op_tuple(machine *m)
{
    size_t from = 0;
    size_t size = (size_t)m->detail;
    int code = size ? need(m, size) : close_mark(m, &from);
    if (code)
        return code;
    return push_tuple(m, size ? m->depth - size : from);
}

/* Appends `fixed` values, or all above the mark where that is 0, to the list or dict below them on the stack. */
static int put_items(machine *m, npi_pickle_kind kind, size_t fixed)
{
    size_t from = 0;
    int code = fixed ? need(m, fixed) : close_mark(m, &from);
    if (code)
        return code;
    if (fixed)
        from = m->depth - fixed;
    size_t count = m->depth - from;
    if (from == (m->mark_count ? m->marks[m->mark_count - 1] : 0))
        return refuse(m, "instruction takes more values than the stack has");
    npi_pickle_value *into = &m->pickle->values[m->stack[from - 1]];
    if (into->kind != kind)
        return refuse(m, kind == NPI_PICKLE_LIST ? "instruction appends to a value that is not a list"
                                                 : "instruction sets items of a value that is not a dict");
    if (kind == NPI_PICKLE_DICT && count % 2)
        return refuse(m, "dict has a key without a value");
    return collect(m, into, from);
}

static int op_append(machine *m)
{
    return put_items(m, NPI_PICKLE_LIST, (size_t)m->detail);
}

static int op_setitem(machine *m)
{
    return put_items(m, NPI_PICKLE_DICT, (size_t)m->detail);
}

/* ---- opcodes: memo ---- */

static int put_memo(machine *m, uint64_t slot)
{
    int code = need(m, 1);
    if (code)
        return code;
    if (slot > m->pickle->size) /* picklers number slots from 0 or 1 and use at least one byte for each */
        return refuse(m, "memo slot out of range");
    while (m->memo_count <= slot) {
        code = npi_grow(&m->pickle->env, &m->memo, &m->memo_capacity, m->memo_count, sizeof *m->memo, m->err);
        if (code)
            return code;
        m->memo[m->memo_count++] = 0;
    }
    m->memo[slot] = m->stack[m->depth - 1] + 1;
    return 0;
}

static int op_put(machine *m)
{
    return put_memo(m, m->argument);
}

static int op_memoize(machine *m)
{
    return put_memo(m, m->memo_count);
}

static int op_get(machine *m)
{
    uint64_t slot = m->argument;
    if (slot >= m->memo_count || m->memo[slot] == 0)
        return refuse(m, "instruction reads a memo slot that is empty");
    return push(m, m->memo[slot] - 1);
}

/* ---- opcodes: classes and objects ---- */

static const struct {
    const char *module, *name;
    npi_pickle_class of;
} known_classes[] = {
    {"scipy.sparse.csr", "csr_matrix", NPI_PICKLE_CSR},
    {"scipy.sparse._csr", "csr_matrix", NPI_PICKLE_CSR},
    {"numpy.core.multiarray", "_reconstruct", NPI_PICKLE_RECONSTRUCT},
    {"numpy._core.multiarray", "_reconstruct", NPI_PICKLE_RECONSTRUCT},
    {"numpy.core.numeric", "_frombuffer", NPI_PICKLE_FROMBUFFER},
    {"numpy._core.numeric", "_frombuffer", NPI_PICKLE_FROMBUFFER},
    {"numpy", "ndarray", NPI_PICKLE_NDARRAY},
    {"numpy", "dtype", NPI_PICKLE_DTYPE},
    {"collections", "defaultdict", NPI_PICKLE_DEFAULTDICT},
    {"__builtin__", "list", NPI_PICKLE_PYTHON_LIST},
    {"builtins", "list", NPI_PICKLE_PYTHON_LIST},
    {"_codecs", "encode", NPI_PICKLE_ENCODE},
};

static int same(const unsigned char *bytes, size_t size, const char *text)
{
    return strlen(text) == size && memcmp(bytes, text, size) == 0;
}

/* Copies bytes of the file into a message, with '?' for everything but printable ASCII. */
static void quote(char *out, size_t out_size, const unsigned char *bytes, size_t size)
{
    size_t used = 0;
    for (; used < size && used < out_size - 1; used++)
        out[used] = bytes[used] > ' ' && bytes[used] < 127 ? (char)bytes[used] : '?';
    out[used] = '\0';
}

static int push_class(machine *m, const unsigned char *module, size_t module_size, const unsigned char *name,
                      size_t name_size)
{
    char shown_module[80], shown_name[80];
    for (size_t i = 0; i < sizeof known_classes / sizeof known_classes[0]; i++)
        if (same(module, module_size, known_classes[i].module) && same(name, name_size, known_classes[i].name)) {
            npi_pickle_value value = {.kind = NPI_PICKLE_CLASS, .of = known_classes[i].of};
            return push_value(m, value);
        }
    quote(shown_module, sizeof shown_module, module, module_size);
    quote(shown_name, sizeof shown_name, name, name_size);
    return npi_fail_at(m->err, NPGNN_E_FORMAT, m->pickle->name, 0,
                       "byte %zu: the pickle uses %s.%s, which is not allowed in a graph file", m->opcode_at,
                       shown_module, shown_name);
}

/* Two lines of text follow: the module and the name of the class. */
static int op_global(machine *m)
{
    const unsigned char *module = m->pickle->bytes + m->at;
    size_t left = m->pickle->size - m->at;
    const unsigned char *end = memchr(module, '\n', left);
    if (!end)
        return refuse(m, "the file ends within a class name");
    const unsigned char *name = end + 1;
    const unsigned char *name_end = memchr(name, '\n', left - (size_t)(name - module));
    if (!name_end)
        return refuse(m, "the file ends within a class name");
    m->at += (size_t)(name_end + 1 - module);
    return push_class(m, module, (size_t)(end - module), name, (size_t)(name_end - name));
}

static int op_stack_global(machine *m)
{
    int code = need(m, 2);
    if (code)
        return code;
    const npi_pickle_value *name = top(m), *module = &m->pickle->values[m->stack[m->depth - 2]];
    if (name->kind != NPI_PICKLE_TEXT || module->kind != NPI_PICKLE_TEXT)
        return refuse(m, "name of a class is not text");
    m->depth -= 2;
    return push_class(m, module->as.string.bytes, module->as.string.size, name->as.string.bytes, name->as.string.size);
}

/* Converts UTF-8 to Latin-1 in place; Latin-1 is never longer. */
static int encode_latin1(machine *m, npi_pickle_value *text)
{
    unsigned char *bytes = text->as.string.bytes;
    size_t used = 0;
    for (size_t i = 0; i < text->as.string.size; i++) {
        unsigned char byte = bytes[i];
        if (byte >= 0x80) { /* U+0080 to U+00FF: 110000xx 10xxxxxx */
            if ((byte & 0xFC) != 0xC0 || i + 1 == text->as.string.size || (bytes[i + 1] & 0xC0) != 0x80)
                return refuse(m, "text is not Latin-1");
            byte = (unsigned char)(byte << 6 | (bytes[++i] & 0x3F));
        }
        bytes[used++] = byte;
    }
    text->as.string.size = used;
    text->kind = NPI_PICKLE_BYTES;
    return 0;
}

/* _codecs.encode(text, 'latin1'). The text itself is converted, so that the memo refers to the result. */
static int push_encoded(machine *m, const npi_pickle_value *args)
{
    int code = 0;
    if (args->as.list.count != 2)
        return refuse(m, "_codecs.encode needs a text and an encoding");
    npi_pickle_value *text = &m->pickle->values[args->as.list.items[0]];
    if (text->kind == NPI_PICKLE_TEXT)
        code = encode_latin1(m, text);
    else if (text->kind != NPI_PICKLE_BYTES) /* BYTES: encoded before */
        code = refuse(m, "_codecs.encode needs a text and an encoding");
    return code ? code : push(m, args->as.list.items[0]);
}

/* Pushes the result of calling a class with arguments. */
static int push_made(machine *m, npi_pickle_class of, uint32_t args)
{
    npi_pickle_value object = {.kind = NPI_PICKLE_OBJECT, .of = of, .as.object.args = args};
    if (of == NPI_PICKLE_DEFAULTDICT)
        return push_empty(m, NPI_PICKLE_DICT);
    if (of == NPI_PICKLE_ENCODE)
        return push_encoded(m, &m->pickle->values[args]);
    if (of == NPI_PICKLE_NDARRAY || of == NPI_PICKLE_PYTHON_LIST)
        return refuse(m, "instruction calls a class that must not be called");
    return push_value(m, object);
}

/* REDUCE and NEWOBJ: replaces a class and its arguments with an object. */
static int op_make(machine *m)
{
    int code = need(m, 2);
    if (code)
        return code;
    uint32_t args = m->stack[m->depth - 1];
    const npi_pickle_value *callable = &m->pickle->values[m->stack[m->depth - 2]];
    if (callable->kind != NPI_PICKLE_CLASS || top(m)->kind != NPI_PICKLE_TUPLE)
        return refuse(m, "object is not made from a class and a tuple of arguments");
    m->depth -= 2;
    return push_made(m, callable->of, args);
}

/* Gives the object below the top its state. */
static int op_build(machine *m)
{
    int code = need(m, 2);
    if (code)
        return code;
    uint32_t state = m->stack[--m->depth];
    if (top(m)->kind != NPI_PICKLE_OBJECT)
        return refuse(m, "instruction gives a state to a value that is not an object");
    top(m)->as.object.state = state;
    return 0;
}

static int op_stop(machine *m)
{
    if (m->depth != 1 || m->mark_count != 0)
        return refuse(m, "pickle does not end with exactly one value");
    m->stopped = 1;
    m->pickle->root = m->stack[0];
    return 0;
}

static const opcode opcodes[256] = {
    [0x80] = {"PROTO", 1, 0, op_proto},
    [0x95] = {"FRAME", 8, 0, op_frame},
    ['N'] = {"NONE", 0, NPI_PICKLE_NONE, op_empty},
    [0x88] = {"NEWTRUE", 0, 1, op_bool},
    [0x89] = {"NEWFALSE", 0, 0, op_bool},
    ['J'] = {"BININT", 4, 1, op_int},
    ['K'] = {"BININT1", 1, 0, op_int},
    ['M'] = {"BININT2", 2, 0, op_int},
    [0x8A] = {"LONG1", 1, 0, op_long},
    ['T'] = {"BINSTRING", 4, NPI_PICKLE_BYTES, op_string},
    ['U'] = {"SHORT_BINSTRING", 1, NPI_PICKLE_BYTES, op_string},
    ['B'] = {"BINBYTES", 4, NPI_PICKLE_BYTES, op_string},
    ['C'] = {"SHORT_BINBYTES", 1, NPI_PICKLE_BYTES, op_string},
    [0x8E] = {"BINBYTES8", 8, NPI_PICKLE_BYTES, op_string},
    [0x96] = {"BYTEARRAY8", 8, NPI_PICKLE_BYTES, op_string},
    ['X'] = {"BINUNICODE", 4, NPI_PICKLE_TEXT, op_string},
    [0x8C] = {"SHORT_BINUNICODE", 1, NPI_PICKLE_TEXT, op_string},
    [0x8D] = {"BINUNICODE8", 8, NPI_PICKLE_TEXT, op_string},
    ['('] = {"MARK", 0, 0, op_mark},
    [')'] = {"EMPTY_TUPLE", 0, NPI_PICKLE_TUPLE, op_empty},
    [']'] = {"EMPTY_LIST", 0, NPI_PICKLE_LIST, op_empty},
    ['}'] = {"EMPTY_DICT", 0, NPI_PICKLE_DICT, op_empty},
    ['t'] = {"TUPLE", 0, 0, op_tuple},
    [0x85] = {"TUPLE1", 0, 1, op_tuple},
    [0x86] = {"TUPLE2", 0, 2, op_tuple},
    [0x87] = {"TUPLE3", 0, 3, op_tuple},
    ['a'] = {"APPEND", 0, 1, op_append},
    ['e'] = {"APPENDS", 0, 0, op_append},
    ['s'] = {"SETITEM", 0, 2, op_setitem},
    ['u'] = {"SETITEMS", 0, 0, op_setitem},
    ['q'] = {"BINPUT", 1, 0, op_put},
    ['r'] = {"LONG_BINPUT", 4, 0, op_put},
    [0x94] = {"MEMOIZE", 0, 0, op_memoize},
    ['h'] = {"BINGET", 1, 0, op_get},
    ['j'] = {"LONG_BINGET", 4, 0, op_get},
    ['c'] = {"GLOBAL", 0, 0, op_global},
    [0x93] = {"STACK_GLOBAL", 0, 0, op_stack_global},
    ['R'] = {"REDUCE", 0, 0, op_make},
    [0x81] = {"NEWOBJ", 0, 0, op_make},
    ['b'] = {"BUILD", 0, 0, op_build},
    ['.'] = {"STOP", 0, 0, op_stop},
};

/* Executes one instruction. */
static int step(machine *m)
{
    const npi_pickle *p = m->pickle;
    m->opcode_at = m->at;
    if (m->at == p->size)
        return refuse(m, "the file ends before the pickle does");
    unsigned char byte = p->bytes[m->at++];
    const opcode *op = &opcodes[byte];
    if (!op->run)
        return npi_fail_at(m->err, NPGNN_E_FORMAT, p->name, 0, "byte %zu: unsupported pickle instruction 0x%02X",
                           m->opcode_at, byte);
    if ((size_t)op->width > p->size - m->at)
        return npi_fail_at(m->err, NPGNN_E_FORMAT, p->name, 0, "byte %zu: the file ends within %s", m->opcode_at,
                           op->name);
    m->detail = op->detail;
    m->argument = 0;
    for (int i = 0; i < op->width; i++)
        m->argument |= (uint64_t)p->bytes[m->at++] << (8 * i);
    return op->run(m);
}

int npi_pickle_read(npi_pickle *out, npi_stream *stream, npgnn_error *err)
{
    npi_pickle pickle = {.env = *npi_stream_env(stream)};
    machine m = {.pickle = &pickle, .err = err};
    npi_pickle_value none = {.kind = NPI_PICKLE_NONE};
    uint32_t zero;
    pickle.name = npi_strdup(&pickle.env, npi_stream_name(stream), err);
    int code =
        pickle.name ? npi_stream_read_all(&pickle.bytes, &pickle.size, stream, MAX_FILE_SIZE, err) : NPGNN_E_MEMORY;
    if (code == 0)
        code = add_value(&m, none, &zero); /* value 0 is None */
    while (code == 0 && !m.stopped)
        code = step(&m);
    npi_free(&pickle.env, m.stack);
    npi_free(&pickle.env, m.memo);
    if (code)
        npi_pickle_free(&pickle);
    else
        *out = pickle;
    return code;
}

void npi_pickle_free(npi_pickle *pickle)
{
    for (size_t i = 0; i < pickle->count; i++) {
        npi_pickle_value *value = &pickle->values[i];
        if (value->kind == NPI_PICKLE_TUPLE || value->kind == NPI_PICKLE_LIST || value->kind == NPI_PICKLE_DICT)
            npi_free(&pickle->env, value->as.list.items);
    }
    npi_free(&pickle->env, pickle->values);
    npi_free(&pickle->env, pickle->bytes);
    npi_free(&pickle->env, pickle->name);
    memset(pickle, 0, sizeof *pickle);
}
