/* kvledger and another Rust archive in one program. */
#include <kvledger.h>
#include <stdio.h>
#include <string.h>

size_t tokenizer_words(const unsigned char *text, size_t bytes);

int main(void) {
  const char *text = "a block is a block";
  kvl_pool_config config = KVL_SIZED(kvl_pool_config);
  size_t bytes;
  if (kvl_config_new(64, 16, 4, 16, &config, NULL) != KVL_OK || kvl_config_bytes(&config, &bytes, NULL) != KVL_OK) return 1;
  if (tokenizer_words((const unsigned char *)text, strlen(text)) != 3) return 1;
  if (tokenizer_words((const unsigned char *)"a panic", 7) != 0) return 1;
  printf("%zu bytes of pool beside 3 words\n", bytes);
  return 0;
}
