/* The tables of the kinds of models. */
#include "jobs/fit.h"
#include "live/extend.h"
#include "model/options.h"
#include "predict/predictor.h"
#include "search/retrieve.h"
#include "search/scorer.h"
#include "search/vectors.h"
#include "store/networkfile.h"
#include "store/processfile.h"
#include "train/calibrate.h"

const npi_model_kind npi_network_kind = {
    .uses_option = npi_network_uses_option,
    .hash = npi_network_hash,
    .free_parameters = npi_network_free_parameters,
    .fit = npi_network_fit,
    .calibrate = npi_network_calibrate,
    .format = NPI_NETWORK_FORMAT,
    .read = npi_network_read,
    .header = npi_network_header,
    .write_tensors = npi_network_write_tensors,
    .link_rate = npi_network_link_rate,
    .adapt = npi_network_adapt,
    .apply = npi_network_apply,
    .batch_new = npi_network_batch_new,
    .score = npi_network_score,
    .explain = npi_network_explain,
    .gather = npi_network_gather,
    .free_predictor = npi_network_free_predictor,
    .complete = npi_network_complete,
    .embed = npi_network_embed,
    .scorer = npi_network_scorer,
    .quicken = npi_network_quicken,
};

const npi_model_kind npi_process_kind = {
    .uses_option = npi_process_uses_option,
    .hash = npi_process_hash,
    .free_parameters = npi_process_free_parameters,
    .fit = npi_process_fit,
    .calibrate = npi_process_calibrate,
    .format = NPI_PROCESS_FORMAT,
    .read = npi_process_read,
    .header = npi_process_header,
    .write_tensors = npi_process_write_tensors,
    .link_rate = npi_process_link_rate,
    .adapt = npi_process_adapt,
    .apply = npi_process_apply,
    .batch_new = npi_process_batch_new,
    .score = npi_process_score,
    .explain = npi_process_explain,
    .gather = npi_process_gather,
    .free_predictor = npi_process_free_predictor,
    .complete = npi_process_complete,
    .embed = npi_process_embed,
    .embedding_width = NPI_EMBEDDING_WIDTH,
    .retrieve = npi_retriever_prepare,
    .scorer = npi_process_scorer,
    .quicken = npi_process_quicken,
    .extend = npi_process_extend,
};

const npi_model_kind *npi_model_kind_of(const npgnn_options *options)
{
    return options->process ? &npi_process_kind : &npi_network_kind;
}

const npi_model_kind *npi_model_kind_at(int index)
{
    static const npi_model_kind *const kinds[] = {&npi_network_kind, &npi_process_kind};
    return index < (int)(sizeof kinds / sizeof kinds[0]) ? kinds[index] : NULL;
}
