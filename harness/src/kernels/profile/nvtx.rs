//! Names for what a profiler shows: ranges of NVTX, where its library is on the machine. Without it nothing happens.

use std::ffi::{CStr, CString, c_char, c_int};

/// The library's two calls.
#[derive(Clone, Copy, Debug)]
pub struct Ranges {
    push: unsafe extern "C" fn(*const c_char) -> c_int,
    pop: unsafe extern "C" fn() -> c_int,
}

/// What the library is called: of CUDA's own packages, and of distributions.
const LIBRARIES: [&CStr; 2] = [c"libnvToolsExt.so.1", c"libnvToolsExt.so"];

impl Ranges {
    /// The library, if it is there.
    #[cfg(unix)]
    pub fn find() -> Option<Ranges> {
        let library = LIBRARIES.iter().find_map(|name| {
            // SAFETY: text that ends in 0. What the library does when it is loaded is what every program with it does.
            let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
            (!library.is_null()).then_some(library)
        })?;
        let symbol = |name: &CStr| {
            // SAFETY: a library that was opened and is never closed, and text that ends in 0.
            let symbol = unsafe { libc::dlsym(library, name.as_ptr()) };
            (!symbol.is_null()).then_some(symbol)
        };
        let (push, pop) = (symbol(c"nvtxRangePushA")?, symbol(c"nvtxRangePop")?);
        // SAFETY: the functions of these names have these types, in every version of the library.
        let push =
            unsafe { std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(*const c_char) -> c_int>(push) };
        // SAFETY: as above.
        let pop = unsafe { std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn() -> c_int>(pop) };
        Some(Ranges { push, pop })
    }

    /// There is none.
    #[cfg(not(unix))]
    pub fn find() -> Option<Ranges> {
        None
    }

    /// Does something inside of a range of this name.
    pub fn within<T>(ranges: Option<&Ranges>, name: &str, work: impl FnOnce() -> T) -> T {
        let Some((ranges, name)) = ranges.zip(CString::new(name).ok()) else { return work() };
        // SAFETY: text that ends in 0 and is copied by the call.
        unsafe { (ranges.push)(name.as_ptr()) };
        let result = work();
        // SAFETY: ends the range that was begun above on this thread.
        unsafe { (ranges.pop)() };
        result
    }
}
