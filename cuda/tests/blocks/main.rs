//! The kernels over whole blocks, against plain loops on the host: every byte that they may write, and every other byte,
//! which they may not; in several orders of threads.

mod bench;
mod checksum;
mod copy;
mod fill;
mod large;
#[cfg(kvl_plants)]
mod plants;
mod rewrite;
