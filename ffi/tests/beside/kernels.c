/* A device, opened and closed by a program in C; with TOKENIZER, beside another Rust archive. */
#include <kvledger_cuda.h>
#include <stdio.h>
#include <string.h>

size_t tokenizer_words(const unsigned char *text, size_t bytes);

int main(void) {
  kvl_device device;
  kvl_device_error error;
  kvl_device_facts facts = KVL_SIZED(kvl_device_facts);
#ifdef TOKENIZER
  const char *text = "a block is a block";
  if (tokenizer_words((const unsigned char *)text, strlen(text)) != 3) return 1;
  if (tokenizer_words((const unsigned char *)"a panic", 7) != 0) return 1;
#endif
  if (kvl_device_open_any(&device, &error) != KVL_DEVICE_OK || kvl_device_get_facts(device, &facts, &error) != KVL_DEVICE_OK) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  printf("%s\n", facts.name);
  return kvl_device_close(device, &error) == KVL_DEVICE_OK ? 0 : 1;
}
