/* One pickle, and what the readers of Planetoid's files look for in it. */
#include "io/pickle.h"
#include "fuzz.h"

static void look_into(fuzz_case *c, const npi_pickle *p)
{
    const npi_pickle_value *root = npi_pickle_at(p, p->root);
    npi_pickle_csr csr;
    npi_pickle_array array;
    volatile double sum = 0; /* so that every element is read */
    if (fuzz_code(c, npi_pickle_get_csr(&csr, p, root, &c->err)) == 0)
        for (int64_t i = 0; i < csr.col.rows; i++)
            sum = sum + npi_pickle_array_float(&csr.val, i) + (double)npi_pickle_array_int(&csr.col, i);
    if (fuzz_code(c, npi_pickle_get_array(&array, p, root, "root", &c->err)) == 0)
        for (int64_t i = 0; i < array.rows * array.cols; i++)
            sum = sum + npi_pickle_array_float(&array, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    npi_pickle p;
    fuzz_begin(&c, data, size);
    npi_stream *stream = fuzz_stream(&c, "pickle", data, size);
    if (stream && fuzz_code(&c, npi_pickle_read(&p, stream, &c.err)) == 0) {
        look_into(&c, &p);
        npi_pickle_free(&p);
    }
    npi_stream_close(stream);
    fuzz_end(&c);
    return 0;
}
