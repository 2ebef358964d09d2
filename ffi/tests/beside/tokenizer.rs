//! Somebody else's Rust in the same program: an archive with the standard library, an allocator and panics of its own.

use std::collections::BTreeMap;

/// How many different words a text has. It panics inside over a word that it does not like, and answers 0.
///
/// # Safety
/// `text` is `bytes` bytes long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tokenizer_words(text: *const u8, bytes: usize) -> usize {
    // SAFETY: promised.
    let text = String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(text, bytes) }).to_string();
    let counted = std::panic::catch_unwind(|| {
        let mut words = BTreeMap::new();
        std::panic::set_hook(Box::new(|_| ()));
        for word in text.split_whitespace() {
            assert!(word != "panic", "caught here, whatever else there is in the program");
            *words.entry(word).or_insert(0) += 1;
        }
        words.len()
    });
    counted.unwrap_or(0)
}
