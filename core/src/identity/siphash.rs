//! SipHash-2-4 with 128 bits of output, over 64-bit words: a keyed pseudorandom function of few instructions (Aumasson and
//! Bernstein 2012; the constants are the paper's, those of the wide output the reference implementation's). It is written
//! here because nothing in this crate may have a panic path; a test holds it against a library.

/// The state, while words are taken in.
pub(super) struct SipHash {
    v: [u64; 4],
    words: u64,
}

impl SipHash {
    pub(super) const fn new([k0, k1]: [u64; 2]) -> SipHash {
        // "somepseudorandomlygeneratedbytes"; 0xee says that 128 bits are wanted.
        let v = [
            k0 ^ 0x736f_6d65_7073_6575,
            k1 ^ 0x646f_7261_6e64_6f6d ^ 0xee,
            k0 ^ 0x6c79_6765_6e65_7261,
            k1 ^ 0x7465_6462_7974_6573,
        ];
        SipHash { v, words: 0 }
    }

    /// Eight more bytes of the message, little-endian.
    #[inline(always)]
    pub(super) const fn word(&mut self, word: u64) {
        self.words = self.words.wrapping_add(1);
        self.compress(word);
    }

    /// The low and the high half.
    pub(super) const fn finish(mut self) -> [u64; 2] {
        // The last word holds the bytes that make up no whole one, here none, and the length in bytes modulo 256.
        let length = self.words << 3;
        self.compress(length << 56);
        self.v[2] ^= 0xee;
        let low = self.finalize();
        self.v[1] ^= 0xdd;
        [low, self.finalize()]
    }

    #[inline(always)]
    const fn compress(&mut self, word: u64) {
        self.v[3] ^= word;
        self.round();
        self.round();
        self.v[0] ^= word;
    }

    const fn finalize(&mut self) -> u64 {
        self.round();
        self.round();
        self.round();
        self.round();
        let [a, b, c, d] = self.v;
        a ^ b ^ c ^ d
    }

    #[inline(always)]
    const fn round(&mut self) {
        let [mut a, mut b, mut c, mut d] = self.v;
        a = a.wrapping_add(b);
        c = c.wrapping_add(d);
        b = b.rotate_left(13) ^ a;
        d = d.rotate_left(16) ^ c;
        a = a.rotate_left(32).wrapping_add(d);
        c = c.wrapping_add(b);
        d = d.rotate_left(21) ^ a;
        b = b.rotate_left(17) ^ c;
        c = c.rotate_left(32);
        self.v = [a, b, c, d];
    }
}
