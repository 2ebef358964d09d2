//! The C ABI of `kvledger-core`.
#![no_std]
