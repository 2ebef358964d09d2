/* Names of prefixes: two blocks have one name if, but for chance in 2^128, all tokens up to their ends are equal and
 * the domain is. Part of kvledger.h. */
#ifndef KVLEDGER_IDENTITY_H
#define KVLEDGER_IDENTITY_H

#include "answer.h"
#include "sized.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kvl_identity {
  uint64_t low;
  uint64_t high;
} kvl_identity;

/* The secret of a server: who knows it can find two prompts with one name. */
typedef struct kvl_identity_key {
  uint64_t words[2];
} kvl_identity_key;

/* What must be equal for two prompts to share blocks, besides their tokens. */
typedef struct kvl_domain {
  size_t size;       /* KVL_SIZED */
  uint32_t group;    /* trust group */
  uint32_t reserved; /* 0 */
  uint64_t adapter;  /* LoRA and its kin; 0 is the model alone */
  uint64_t modality; /* or any other variant whose keys and values differ */
  const void *salt;  /* what a tenant gives to share with the same salt only; may be NULL */
  size_t salt_bytes;
} kvl_domain;

/* A key of 128 bits from a source of randomness. Results: none. Cost: O(1). */
kvl_status kvl_identity_key_new(uint64_t low, uint64_t high, kvl_identity_key *key, kvl_refusal *refusal);
/* The name of the beginning of a prompt. Results: KVL_ARGUMENT_SALT for 2^32 bytes or more of it. Cost: O(salt). */
kvl_status kvl_identity_key_root(const kvl_identity_key *key, const kvl_domain *domain, kvl_identity *root,
                                 kvl_refusal *refusal);
/* The name of a block of `count` tokens, from that of the block before it. `media` names what its placeholder tokens
 * stand for; NULL if it has none. A hash that its sender can choose freely will not do for that.
 * Results: KVL_ARGUMENT_TOKENS for none, or 2^32 or more (so many that they are no array in memory are _POINTER).
 * Cost: O(tokens), about 100 ns for 16. */
kvl_status kvl_identity_key_block(const kvl_identity_key *key, const kvl_identity *parent, const uint32_t *tokens,
                                  size_t count, const kvl_identity *media, kvl_identity *name, kvl_refusal *refusal);
/* The names of all full blocks of a prompt without placeholders: `blocks` of them, at the front of `names`.
 * Results: KVL_ARGUMENT_BLOCK_TOKENS for 0, _OUTPUT if `names_max` is less, and then nothing was written.
 * Cost: O(tokens). */
kvl_status kvl_identity_key_chain(const kvl_identity_key *key, const kvl_identity *root, const uint32_t *tokens,
                                  size_t count, uint32_t block_tokens, kvl_identity *names, size_t names_max,
                                  size_t *blocks, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
