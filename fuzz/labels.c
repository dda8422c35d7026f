/* Label files, for nodes with names and for nodes that are numbers: the first byte of a case says which. */
#include "fuzz.h"
#include "io/readers.h"

enum { NODES = 8 };

static npi_names *name_nodes(fuzz_case *c)
{
    npi_names *names;
    int32_t index;
    fuzz_check(npi_names_new(&names, &c->env, &c->err) == 0);
    for (int i = 0; i < NODES; i++)
        fuzz_check(npi_names_add(&index, names, &"abcdefgh"[i], 1, &c -> err) == 0);
    return names;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    int32_t *label = NULL, classes = 0;
    if (size == 0)
        return 0;
    fuzz_begin(&c, data, size);
    npi_names *names = data[0] % 2 ? name_nodes(&c) : NULL;
    npi_stream *stream = fuzz_stream(&c, "labels", data + 1, size - 1);
    if (stream && fuzz_code(&c, npi_labels_read(&label, &classes, stream, names, NODES, &c.err)) == 0)
        for (int i = 0; label && i < NODES; i++)
            fuzz_check(label[i] >= -1 && classes > 0 && classes <= NODES);
    npi_free(&c.env, label);
    npi_stream_close(stream);
    npi_names_free(names);
    fuzz_end(&c);
    return 0;
}
