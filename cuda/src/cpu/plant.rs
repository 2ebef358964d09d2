//! Mistakes that kernels are told to make, in builds with `KVL_PLANTS=1`: so that tests can prove that they would be found.

use core::ffi::c_char;
use core::ptr;
use std::ffi::CString;

unsafe extern "C" {
    /// `cuda/cpu/plants.h`.
    fn kvk_cpu_plant(name: *const c_char) -> u32;
}

/// Asks for one mistake in all launches of the CPU device from now on; `None`: for none. False if there is none of that
/// name. The names are in `cuda/cpu/plants.h`.
pub fn plant(name: Option<&str>) -> bool {
    let Ok(name) = name.map(CString::new).transpose() else { return false };
    // SAFETY: NULL, or text that ends in 0 and is there for the length of the call.
    unsafe { kvk_cpu_plant(name.as_ref().map_or(ptr::null(), |name| name.as_ptr())) == 0 }
}
