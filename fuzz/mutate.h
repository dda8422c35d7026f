/* Mutations by field: a file stays what it is, and one of its fields, elements or arrays becomes another, is missing, or is there
 * many times. By bytes alone, a fuzzer hardly gets past the first bracket, checksum or length, and never to large files. */
#ifndef NPI_FUZZ_MUTATE_H
#define NPI_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Of libFuzzer, or of replay.c: changes some bytes. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* What libFuzzer calls instead of it. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

/* Random numbers of one mutation. */
typedef struct fuzz_dice {
    uint64_t state;
} fuzz_dice;

/* From 0 to below `sides`, 0 where that is 0. */
size_t fuzz_roll(fuzz_dice *dice, size_t sides);

/* Each changes a file of `size` bytes, in place, to at most `most` bytes, and returns how many it has then; 0 where it is not such a
 * file. */
size_t fuzz_mutate_xml(uint8_t *data, size_t size, size_t most, fuzz_dice *dice);
size_t fuzz_mutate_json(uint8_t *data, size_t size, size_t most, fuzz_dice *dice);
size_t fuzz_mutate_lines(uint8_t *data, size_t size, size_t most, fuzz_dice *dice); /* of fields */
size_t fuzz_mutate_npy(uint8_t *data, size_t size, size_t most, fuzz_dice *dice);
size_t fuzz_mutate_npz(uint8_t *data, size_t size, size_t most, fuzz_dice *dice);
size_t fuzz_mutate_safetensors(uint8_t *data, size_t size, size_t most, fuzz_dice *dice);
size_t fuzz_mutate_words(uint8_t *data, size_t size, size_t most, fuzz_dice *dice); /* of .npg */

#endif
