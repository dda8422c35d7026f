#include "evidence/table.h"

#include <assert.h>
#include <string.h>

const npi_bank_spec npi_bank_specs[NPI_BANKS] = {
#define NPI_X(bank, width, group, make, source, flags, partner)                                                        \
    {NPI_WIDTH_##width, NPI_GROUP_##group, NPI_##make, NPI_BANK_##source, flags, NPI_BANK_##partner},
    NPI_BANK_LIST(NPI_X)
#undef NPI_X
};

const npi_column_spec npi_column_specs[NPI_ALL_COLUMNS] = {
#define NPI_X(column, name, text, reason, operation, left, right, weighting)                                           \
    [NPI_COLUMN_##column] = {                                                                                          \
        name, text, NPGNN_REASON_##reason, NPI_##operation, NPI_BANK_##left, NPI_BANK_##right, NPI_##weighting},
    NPI_FEATURE_COLUMN_LIST(NPI_X) NPI_STRUCTURE_COLUMN_LIST(NPI_X) NPI_LEARNT_COLUMN_LIST(NPI_X)
#undef NPI_X
};

/* The place of a product in the plan. A new one is put behind those with the same right bank. */
static int find_or_insert(npi_plan *plan, npi_product wanted)
{
    int at = plan->products;
    for (int p = 0; p < plan->products; p++) {
        const npi_product *known = &plan->product[p];
        if (known->left == wanted.left && known->right == wanted.right && known->weighting == wanted.weighting)
            return p;
        if (known->right == wanted.right)
            at = p + 1;
    }
    assert(plan->products < NPI_MOST_PRODUCTS);
    /* products from `at` on move up by one, and so do the terms that refer to them; -1 is below any `at` */
    memmove(&plan->product[at + 1], &plan->product[at], (size_t)(plan->products - at) * sizeof wanted);
    for (int c = 0; c < NPI_ALL_COLUMNS; c++)
        for (int t = 0; t < 2; t++)
            plan->term[c][t] += plan->term[c][t] >= at;
    plan->product[at] = wanted;
    plan->products++;
    return at;
}

/* Whether a column is computed from products. */
static int has_products(npi_operation operation)
{
    return operation <= NPI_CENTRED;
}

/* Whether a column with two banks is the mean of both directions: it is not where one bank is the other times K. */
static int has_two_terms(const npi_column_spec *column)
{
    return column->left != column->right && npi_bank_specs[column->left].make != NPI_KERNEL;
}

/* Notes that something is read of the rows of a right bank. */
static void need(unsigned char *of_banks, int *count, npi_bank_id bank)
{
    *count += !of_banks[bank];
    of_banks[bank] = 1;
}

void npi_plan_make(npi_plan *plan, int has_features, int has_projection, int has_overlap)
{
    int scratch = NPI_ALL_COLUMNS; /* the next plane that is not a column's */
    memset(plan, 0, sizeof *plan);
    memset(plan->term, -1, sizeof plan->term);
    plan->columns = has_projection ? NPI_ALL_COLUMNS : NPI_COLUMNS;
    for (int c = 0; c < plan->columns; c++) {
        const npi_column_spec *column = &npi_column_specs[c];
        npi_operation operation = column->operation;
        if (operation == NPI_OVERLAP && !has_overlap)
            operation = NPI_PRODUCT;
        plan->operation[c] = operation;
        if (!has_products(operation))
            continue;
        npi_group group = npi_bank_specs[column->left].group;
        if (group < NPI_FEATURE_GROUPS && !has_features) /* the column exists, without terms: it is 0 */
            continue;
        for (int t = 0; t < 1 + has_two_terms(column); t++) {
            npi_product wanted = {.left = t == 0 ? column->left : column->right,
                                  .right = t == 0 ? column->right : column->left,
                                  .weighting = column->weighting,
                                  .group = group};
            /* A product goes to the plane of the first column that needs it, which is made from it in place; a second
             * direction goes to scratch. Others with the same product copy it (rows.c). */
            int known = plan->products, p = find_or_insert(plan, wanted);
            if (plan->products > known)
                plan->product[p].plane = t == 0 ? c : scratch++;
            plan->term[c][t] = p;
            plan->is_left[wanted.left] = plan->is_right[wanted.right] = 1;
            /* (a - μ)·(b - ν): b · μ is `along` where both banks are the same, `cross` where they are partners */
            if (operation == NPI_CENTRED && wanted.left == wanted.right)
                need(plan->along, &plan->doubles, wanted.right);
            else if (operation == NPI_CENTRED)
                need(plan->cross, &plan->doubles, wanted.right);
            if (operation == NPI_CENTRED || operation == NPI_COSINE)
                need(plan->distance, &plan->floats, wanted.right);
            /* a mean is known of a bank itself and of its partner */
            assert(operation != NPI_CENTRED || wanted.left == wanted.right ||
                   npi_bank_specs[wanted.left].partner == wanted.right);
        }
    }
    assert(scratch <= NPI_PLANES);
}
