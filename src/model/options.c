/* The options as one table: key, type, range, help. Setting, reading, listing and checking use it, so that an option is
 * added in one place. */
#include "model/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/sized.h"
#include "model/kind.h"

typedef enum { INT, FLAG, REAL, CHOICE, U64 } kind;

typedef struct option {
    const char *key;
    kind kind;
    size_t offset;
    double min, max;    /* INT, REAL */
    const char *values; /* CHOICE: the names, by value; otherwise what a person is told */
    const char *help;
} option;

#define AT(member) offsetof(npgnn_options, member)

/* The range of a layer's width: least, most, and both as text, "1..4096". */
#define TEXT(number) #number
#define RANGE_TEXT(most) "1.." TEXT(most)
#define WIDTHS 1, NPI_MAX_WIDTH, RANGE_TEXT(NPI_MAX_WIDTH)

static const option table[] = {
    {"process", FLAG, AT(process), 0, 1, "on|off",
     "tune the process that was learnt across graphs, instead of training a network; it uses iterations, "
     "learning-rate, "
     "beta1, beta2, epsilon, seed, calibrate and predict-samples"},
    {"latent", FLAG, AT(latent), 0, 1, "on|off", "use the latent variable z; off: train the decoder alone"},
    {"sample-latent", FLAG, AT(sample_latent), 0, 1, "on|off",
     "draw z and add the KL term; off: z is the mean of the context"},
    {"hidden", INT, AT(hidden), WIDTHS, "width of the first encoder layer"},
    {"latent-size", INT, AT(latent_size), WIDTHS, "number of dimensions of z"},
    {"encoder-output", CHOICE, AT(encoder_output), 0, 1, "linear|relu", "activation of the second encoder layer"},
    {"aggregate", CHOICE, AT(aggregate), 0, 1, "vector|scalar",
     "average the encoder output over nodes, or over nodes and dimensions"},
    {"sigma-mean", CHOICE, AT(sigma_mean), 0, 1, "mean-log|log-mean",
     "aggregate sigma as the mean of log sigma, or as the log of the mean of sigma"},
    {"sigma-start", REAL, AT(sigma_start), 1e-6, 1e3, "above 0, to 1000", "initial scale of sigma"},
    {"context", CHOICE, AT(context), 0, 2, "edges|nodes|auto",
     "what a training context is a random sample of; auto: nodes if the split holds out nodes"},
    {"context-fraction", REAL, AT(context_fraction), 1e-6, 1, "above 0, to 1",
     "fraction of the edges or nodes in a context"},
    {"decoder-hidden", INT, AT(decoder_hidden), WIDTHS, "width of the hidden layer of the decoder"},
    {"output-size", INT, AT(output_size), 1, 256, "1..256", "number of dimensions of the node embeddings"},
    {"decoder-output", CHOICE, AT(decoder_output), 0, 2, "linear|relu|sigmoid", "activation of the decoder output"},
    {"input-scale", REAL, AT(input_scale), 0, 1e6, "from 0",
     "factor of the features in training; 0: chosen from their average length"},
    {"input-dropout", REAL, AT(input_dropout), 0, 0.99, "0..0.99",
     "fraction of the features that are dropped per iteration"},
    {"samples", INT, AT(samples), 1, 1000, "1..1000", "Monte Carlo samples of z per iteration"},
    {"monte-carlo", CHOICE, AT(monte_carlo), 0, 1, "likelihood|embedding",
     "what is averaged over the samples: log-likelihoods or embeddings"},
    {"likelihood", CHOICE, AT(likelihood), 0, 1, "weighted|plain",
     "links and non-links have the same total weight, or every pair the same weight"},
    {"kl-weight", REAL, AT(kl_weight), 0, 1e6, "from 0", "weight of the KL term"},
    {"loss", CHOICE, AT(loss), 0, 2, "exact|sampled|auto",
     "over all pairs, estimated from a sample, or chosen by the size of the graph"},
    {"pairs-per-node", INT, AT(pairs_per_node), 1, 1 << 20, "1..1048576", "pairs per node in the sampled loss"},
    {"iterations", INT, AT(iterations), 1, 1e9, "from 1", "number of training iterations"},
    {"learning-rate", REAL, AT(learning_rate), 1e-12, 1e3, "above 0", "learning rate of Adam"},
    {"lr-schedule", CHOICE, AT(lr_schedule), 0, 2, "constant|linear|cosine",
     "how the learning rate decreases: not at all, linearly or along a cosine to 0"},
    {"lr-horizon", INT, AT(lr_horizon), 0, 1e9, "from 0",
     "iterations after which the learning rate reaches 0; 0: all iterations"},
    {"beta1", REAL, AT(beta1), 0, 1 - 1e-12, "0 to below 1", "decay rate of Adam's first moment"},
    {"beta2", REAL, AT(beta2), 0, 1 - 1e-12, "0 to below 1", "decay rate of Adam's second moment"},
    {"epsilon", REAL, AT(epsilon), 1e-30, 1, "above 0", "constant in the denominator of Adam"},
    {"seed", U64, AT(seed), 0, 0, "from 0", "seed of initial weights, contexts and samples"},
    {"validate-every", INT, AT(validate_every), 1, 1e9, "from 1", "iterations between validations"},
    {"keep-best", FLAG, AT(keep_best), 0, 1, "on|off", "keep the model of the best validation instead of the last one"},
    {"patience", INT, AT(patience), 0, 1e9, "from 0", "stop after this many validations without improvement; 0: never"},
    {"calibrate", FLAG, AT(calibrate), 0, 1, "on|off", "calibrate probabilities on held-out links"},
    {"predict-samples", INT, AT(predict_samples), 0, NPI_MOST_DRAWS, "0..1000",
     "default number of draws of z at prediction; 0: use the mean of z"},
};
enum { OPTIONS = sizeof table / sizeof table[0] };

/* ---- presets ---- */

static const npgnn_options standard = {
    .size = sizeof standard,
    .latent = 1,
    .sample_latent = 1,
    .hidden = 32,
    .latent_size = 32,
    .encoder_output = NPGNN_LINEAR,
    .aggregate = NPGNN_VECTOR,
    .sigma_mean = NPGNN_MEAN_LOG,
    .sigma_start = 0.1,
    .context = NPGNN_CONTEXT_AUTO,
    .context_fraction = 0.1,
    .decoder_hidden = 64,
    .output_size = 32,
    .decoder_output = NPGNN_LINEAR,
    .input_scale = 0,
    .input_dropout = 0.25,
    .samples = 1,
    .monte_carlo = NPGNN_MC_LIKELIHOOD,
    .likelihood = NPGNN_WEIGHTED,
    .kl_weight = 1,
    .loss = NPGNN_LOSS_AUTO,
    .pairs_per_node = 128,
    .iterations = 500,
    .learning_rate = 0.01,
    .beta1 = 0.9,
    .beta2 = 0.999,
    .epsilon = 1e-8,
    .validate_every = 10,
    .calibrate = 1,
};

static void set_default(npgnn_options *o)
{
    (void)o; /* `standard` is the default */
}

/* What the paper leaves open is as in the authors' program: nothing is done to the features or to sigma. */
static void set_paper(npgnn_options *o)
{
    o->input_scale = 1;
    o->input_dropout = 0;
    o->sigma_start = 1;
}

/* The paper to the letter, but for the plain likelihood, under which training collapses (docs/understand/math.md). */
static void set_literal(npgnn_options *o)
{
    set_paper(o);
    o->encoder_output = NPGNN_RELU;
    o->decoder_output = NPGNN_SIGMOID;
}

static void set_authors(npgnn_options *o)
{
    set_paper(o);
    o->aggregate = NPGNN_SCALAR;
    o->sigma_mean = NPGNN_LOG_MEAN;
    o->latent_size = 16;
    o->output_size = 16;
    o->monte_carlo = NPGNN_MC_EMBEDDING;
}

/* Chosen on validation data: docs/results/best.md. */
static void set_best(npgnn_options *o)
{
    o->process = 1;
    o->iterations = 20;
    o->learning_rate = 0.002;
}

static const struct {
    const char *name, *help;
    void (*set)(npgnn_options *options);
} presets[] = {
    {"default", "the paper's model, where the paper works", set_default},
    {"best", "the most accurate, for any graph", set_best},
    {"paper-literal", "the paper to the letter", set_literal},
    {"authors", "the settings of its authors' program", set_authors},
};
enum { PRESETS = sizeof presets / sizeof presets[0] };

int npgnn_preset_info(const char **name, const char **help, int index)
{
    if (index < 0 || index >= PRESETS)
        return 0;
    *name = presets[index].name;
    *help = presets[index].help;
    return 1;
}

int npgnn_options_preset(npgnn_options *options, const char *name, npgnn_error *err)
{
    npgnn_options preset = standard;
    for (int i = 0; i < PRESETS; i++)
        if (strcmp(presets[i].name, name ? name : "default") == 0) {
            presets[i].set(&preset);
            return npi_sized_write(options, &preset, sizeof preset, "npgnn_options", err);
        }
    return npi_fail(err, NPGNN_E_ARGUMENT, "there is no preset \"%s\": choose default, best, paper-literal or authors",
                    name);
}

/* ---- by key ---- */

static size_t width_of(kind type)
{
    return type == REAL ? sizeof(double) : type == U64 ? sizeof(uint64_t) : sizeof(int);
}

/* The option with this key. A program that was compiled before there was such an option has no member for it. */
static const option *find(const npgnn_options *options, const char *key, npgnn_error *err)
{
    if (npi_sized_check(options, "npgnn_options", err))
        return NULL;
    for (int i = 0; i < OPTIONS; i++)
        if (strcmp(table[i].key, key) == 0 && table[i].offset + width_of(table[i].kind) <= options->size)
            return &table[i];
    npi_fail(err, NPGNN_E_ARGUMENT, "there is no option \"%s\"", key);
    return NULL;
}

static int bad_value(const option *o, const char *value, npgnn_error *err)
{
    return npi_fail(err, NPGNN_E_ARGUMENT, "%s takes %s, not \"%s\"", o->key, o->values, value);
}

/* The place of `name` in a list such as "linear|relu", or -1. */
static int choice_index(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (int index = 0;; index++) {
        size_t item = strcspn(list, "|");
        if (item == length && memcmp(list, name, length) == 0)
            return index;
        if (!list[item])
            return -1;
        list += item + 1;
    }
}

int npgnn_options_set(npgnn_options *options, const char *key, const char *value, npgnn_error *err)
{
    const option *o = find(options, key, err);
    if (!o)
        return NPGNN_E_ARGUMENT;
    void *member = (char *)options + o->offset;
    double number;
    int index;
    switch (o->kind) {
    case CHOICE:
        if ((index = choice_index(o->values, value)) < 0)
            return bad_value(o, value, err);
        memcpy(member, &index, sizeof index);
        return 0;
    case FLAG:
        if ((index = choice_index("off|on|false|true|0|1", value)) < 0)
            return bad_value(o, value, err);
        *(int *)member = index & 1;
        return 0;
    case U64:
        return npi_number_parse_u64(member, value) ? 0 : bad_value(o, value, err);
    case INT:
    case REAL:
        break;
    }
    if (npi_number_parse_double(&number, value) != NPI_NUMBER_OK || number < o->min || number > o->max)
        return bad_value(o, value, err);
    if (o->kind == REAL)
        *(double *)member = number;
    else if (number == floor(number))
        *(int *)member = (int)number;
    else
        return bad_value(o, value, err);
    return 0;
}

/* E_ARGUMENT where a caller has put a number into the member that no name stands for. */
static int check_choice(int *index, const option *o, const npgnn_options *options, npgnn_error *err)
{
    memcpy(index, (const char *)options + o->offset, sizeof *index);
    if (*index < (int)o->min || *index > (int)o->max)
        return npi_fail(err, NPGNN_E_ARGUMENT, "%s takes %s, not the value %d", o->key, o->values, *index);
    return 0;
}

int npgnn_options_get(char *value, size_t size, const npgnn_options *options, const char *key, npgnn_error *err)
{
    const option *o = find(options, key, err);
    if (!o)
        return NPGNN_E_ARGUMENT;
    const void *member = (const char *)options + o->offset;
    const char *name = o->values;
    int index;
    switch (o->kind) {
    case CHOICE:
        if (check_choice(&index, o, options, err))
            return NPGNN_E_ARGUMENT;
        for (; index > 0; index--)
            name += strcspn(name, "|") + 1;
        snprintf(value, size, "%.*s", (int)strcspn(name, "|"), name);
        break;
    case FLAG:
        snprintf(value, size, "%s", *(const int *)member ? "on" : "off");
        break;
    case U64:
        snprintf(value, size, "%" PRIu64, *(const uint64_t *)member);
        break;
    case INT:
        snprintf(value, size, "%d", *(const int *)member);
        break;
    case REAL:
        npi_number_print(value, size, *(const double *)member);
        break;
    }
    return 0;
}

int npgnn_options_info(npgnn_option_info *info, int index)
{
    if (index < 0 || index >= OPTIONS)
        return 0;
    info->key = table[index].key;
    info->values = table[index].values;
    info->help = table[index].help;
    return 1;
}

/* What must hold for an option of a network to have an effect. */
enum {
    LATENT = 1,       /* there is a latent variable, */
    DRAWS = 2,        /* it is drawn, */
    SEVERAL = 4,      /* more than once per iteration */
    SAMPLED_LOSS = 8, /* the loss may be estimated from a sample */
    FALLING_RATE = 16 /* the learning rate decreases */
};

static const struct {
    const char *key;
    unsigned needs;
} needs[] = {
    {"sample-latent", LATENT},
    {"hidden", LATENT},
    {"latent-size", LATENT},
    {"encoder-output", LATENT},
    {"aggregate", LATENT},
    {"sigma-mean", LATENT | DRAWS},
    {"sigma-start", LATENT | DRAWS},
    {"context", LATENT},
    {"context-fraction", LATENT},
    {"samples", LATENT | DRAWS},
    {"monte-carlo", LATENT | DRAWS | SEVERAL},
    {"kl-weight", LATENT | DRAWS},
    {"pairs-per-node", SAMPLED_LOSS},
    {"lr-horizon", FALLING_RATE},
    {"predict-samples", LATENT | DRAWS},
};

int npi_network_uses_option(const npgnn_options *o, const char *key)
{
    unsigned has = (o->latent ? LATENT : 0u) | (o->sample_latent ? DRAWS : 0u) | (o->samples > 1 ? SEVERAL : 0u) |
                   (o->loss != NPGNN_LOSS_EXACT ? SAMPLED_LOSS : 0u) |
                   (o->lr_schedule != NPGNN_LR_CONSTANT ? FALLING_RATE : 0u);
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (strcmp(needs[i].key, key) == 0)
            return (needs[i].needs & ~has) == 0;
    return 1;
}

int npi_process_uses_option(const npgnn_options *options, const char *key)
{
    static const char *const used[] = {"process", "iterations", "learning-rate", "beta1",          "beta2",
                                       "epsilon", "seed",       "calibrate",     "predict-samples"};
    (void)options;
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        if (strcmp(used[i], key) == 0)
            return 1;
    return 0;
}

int npgnn_options_uses(const npgnn_options *options, const char *key, npgnn_error *err)
{
    npgnn_options o;
    int code = npi_sized_read(&o, sizeof o, options, "npgnn_options", err), known = 0;
    for (int i = 0; i < OPTIONS; i++)
        known |= strcmp(table[i].key, key) == 0;
    return code ? code : known && npi_model_kind_of(&o)->uses_option(&o, key);
}

int npi_options_read(npgnn_options *out, const npgnn_options *given, npgnn_error *err)
{
    npgnn_options options = standard;
    int code = npi_sized_read(&options, sizeof options, given, "npgnn_options", err);
    if (!code)
        code = npi_options_check(&options, err);
    if (!code)
        *out = options;
    return code;
}

int npi_options_check(const npgnn_options *options, npgnn_error *err)
{
    char value[64];
    npgnn_options copy = *options;
    int index;
    for (int i = 0; i < OPTIONS; i++) {
        const option *o = &table[i];
        if (o->kind == CHOICE || o->kind == FLAG) {
            if (check_choice(&index, o, options, err))
                return NPGNN_E_ARGUMENT;
            continue;
        }
        npgnn_options_get(value, sizeof value, options, o->key, NULL);
        if (npgnn_options_set(&copy, o->key, value, err))
            return NPGNN_E_ARGUMENT;
    }
    return 0;
}

uint64_t npi_options_hash(const npgnn_options *options)
{
    npgnn_option_info info;
    char value[64];
    uint64_t hash = NPI_HASH_START;
    for (int i = 0; npgnn_options_info(&info, i); i++) {
        npgnn_options_get(value, sizeof value, options, info.key, NULL);
        hash = npi_hash_bytes(hash, value, strlen(value) + 1);
    }
    return hash;
}
