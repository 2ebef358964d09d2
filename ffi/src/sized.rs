//! Structs of C that can grow: they begin with their size, which the caller sets to what `sizeof` was when he compiled.
//!
//! A caller and a library of different versions agree by it. Who is older knows fewer fields: those of an input that he
//! does not have are 0, which means "as before", and those of an output are not written. Who is newer has more of them:
//! in an input they must be 0, for they ask for what this library cannot do, and in an output they become 0. A size below
//! that of the first version, or one that no struct has, was not set.
//!
//! The device functions have this file too, so it says what is wrong in its own words.

use core::mem::{MaybeUninit, align_of, offset_of, size_of};

/// What C has of a struct that can grow: its size, then its fields, then the word that fills it up, if it needs one. Laid
/// out as C lays out all of it in one struct.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WithSize<T: Grows> {
    size: usize,
    /// All but the size.
    pub fields: T,
    reserved: T::Reserved,
}

/// The fields of a struct that can grow. New ones go behind all that were there, or in the place of the reserved word.
///
/// # Safety
/// `repr(C)` without padding, and all bytes are a value of it and of `Reserved`, zeros included.
pub unsafe trait Grows: Copy {
    /// `sizeof` the struct of C in its first version. It stays when fields are added.
    const FIRST_BYTES: usize;

    /// `u32` if the struct of C has a last word `reserved` and all its other fields are of 4 bytes: without the word it would
    /// end in padding, and a field that came there would be read from what an older caller never set. It is 0, as a field
    /// that is not known yet. Else `()`. With a field of 8 bytes the word is one of the fields, for it would stand behind
    /// their padding, and who reads the struct refuses what is not 0.
    type Reserved: Copy + Eq + Default;
}

/// No struct is larger, in whatever version.
pub const BYTES_MAX: usize = 4096;

/// Why a pointer to such a struct cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unusable {
    /// It is NULL or misaligned.
    Pointer,
    /// The size is none that `sizeof` is: below the first version's, above [`BYTES_MAX`], or no multiple of the alignment.
    /// Or there is something in fields that this version does not have.
    Size,
}

impl<T: Grows> WithSize<T> {
    /// `sizeof` the struct of C in this version. Whoever uses it has these held.
    const BYTES: usize = {
        let bytes = size_of::<WithSize<T>>();
        assert!(align_of::<T>() <= size_of::<usize>(), "padding after the size, which the struct of C has not");
        let parts = size_of::<usize>() + size_of::<T>() + size_of::<T::Reserved>();
        assert!(parts == bytes, "padding at the end: the struct wants a reserved word");
        assert!(offset_of!(WithSize<T>, fields) < T::FIRST_BYTES, "the first version had fields");
        assert!(T::FIRST_BYTES <= bytes && bytes <= BYTES_MAX, "fields went away, or far too many came");
        bytes
    };

    /// With the size that it has in this version.
    pub fn of(fields: T) -> WithSize<T> {
        WithSize { size: Self::BYTES, fields, reserved: T::Reserved::default() }
    }

    /// The fields, if nothing is where this version has none.
    #[inline(always)]
    fn known(&self) -> Result<T, Unusable> {
        if self.reserved == T::Reserved::default() { Ok(self.fields) } else { Err(Unusable::Size) }
    }
}

/// The size that the caller has set.
///
/// # Safety
/// An address that is neither NULL nor misaligned is one of a size.
#[inline(always)]
pub(crate) unsafe fn stated<T: Grows>(pointer: *const WithSize<T>) -> Result<usize, Unusable> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Unusable::Pointer);
    }
    // SAFETY: neither NULL nor misaligned, and it begins there; the rest is the caller's promise.
    let size = unsafe { pointer.cast::<usize>().read() };
    let is_one = (T::FIRST_BYTES..=BYTES_MAX).contains(&size) && size % align_of::<WithSize<T>>() == 0;
    if is_one { Ok(size) } else { Err(Unusable::Size) }
}

/// Where it is: its address, and as many bytes as it says; as ours has, if it says none that can be.
///
/// # Safety
/// As [`stated`].
#[inline(always)]
pub(crate) unsafe fn range<T: Grows>(pointer: *const WithSize<T>) -> (usize, usize) {
    // SAFETY: the caller's promise.
    (pointer.addr(), unsafe { stated(pointer) }.unwrap_or(WithSize::<T>::BYTES))
}

/// The fields of an input.
///
/// # Safety
/// An address that is neither NULL nor misaligned is one of a struct that has as many bytes as its size says.
#[inline(always)]
pub(crate) unsafe fn read<T: Grows>(pointer: *const WithSize<T>) -> Result<T, Unusable> {
    // SAFETY: the caller's promise.
    let size = unsafe { stated(pointer) }?;
    if size == WithSize::<T>::BYTES {
        // SAFETY: the struct is whole, and all bytes are a value.
        return unsafe { &*pointer }.known();
    }
    // SAFETY: the caller's promise.
    unsafe { read_of_another_version(pointer.cast(), size) }
}

/// # Safety
/// `size` bytes are there.
#[cold]
unsafe fn read_of_another_version<T: Grows>(bytes: *const u8, size: usize) -> Result<T, Unusable> {
    let ours = WithSize::<T>::BYTES;
    // SAFETY: these are within `size` bytes, or none.
    let beyond = unsafe { core::slice::from_raw_parts(bytes.wrapping_add(ours), size.saturating_sub(ours)) };
    if beyond.iter().any(|&byte| byte != 0) {
        return Err(Unusable::Size);
    }
    let mut whole = MaybeUninit::<WithSize<T>>::zeroed();
    // SAFETY: so many bytes are in both, and the copy is nobody else's.
    unsafe { bytes.copy_to_nonoverlapping(whole.as_mut_ptr().cast(), size.min(ours)) };
    // SAFETY: all bytes are a value, and the others are 0.
    unsafe { whole.assume_init() }.known()
}

/// Writes an output, as far as the caller knows it; nothing if its pointer or size cannot be used. The size stays.
///
/// # Safety
/// As [`read`], and the bytes are the call's alone.
#[inline(always)]
pub(crate) unsafe fn write<T: Grows>(pointer: *mut WithSize<T>, fields: T) {
    // SAFETY: the caller's promise.
    match unsafe { stated(pointer) } {
        // SAFETY: the struct is whole.
        Ok(size) if size == WithSize::<T>::BYTES => unsafe { *pointer = WithSize::of(fields) },
        // SAFETY: the caller's promise.
        Ok(size) => unsafe { write_of_another_version(pointer.cast(), size, &WithSize::of(fields)) },
        Err(_) => {}
    }
}

/// # Safety
/// `size` bytes are there.
#[cold]
unsafe fn write_of_another_version<T: Grows>(bytes: *mut u8, size: usize, whole: &WithSize<T>) {
    let (ours, begin) = (WithSize::<T>::BYTES, offset_of!(WithSize<T>, fields));
    let from = (&raw const *whole).cast::<u8>();
    let known = size.min(ours).saturating_sub(begin);
    // SAFETY: from `begin` on, so many bytes are in both.
    unsafe { from.wrapping_add(begin).copy_to_nonoverlapping(bytes.wrapping_add(begin), known) };
    // SAFETY: these are within `size` bytes, or none.
    unsafe { bytes.wrapping_add(ours).write_bytes(0, size.saturating_sub(ours)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first version, as an old caller has it: 24 bytes.
    #[repr(C)]
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    struct First {
        one: u64,
        two: u32,
        reserved: u32,
    }

    /// The version of this library: a field more, 32 bytes.
    #[repr(C)]
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    struct Second {
        first: First,
        three: u64,
    }

    // SAFETY: integers.
    unsafe impl Grows for First {
        const FIRST_BYTES: usize = 24;
        type Reserved = ();
    }

    // SAFETY: integers.
    unsafe impl Grows for Second {
        const FIRST_BYTES: usize = 24;
        type Reserved = ();
    }

    const FIRST: First = First { one: 1, two: 2, reserved: 0 };
    const SECOND: Second = Second { first: FIRST, three: 3 };

    /// Memory of a caller: words, of which the first is the size that he says.
    fn words(size: usize, rest: [u64; 5]) -> [u64; 6] {
        let [a, b, c, d, e] = rest;
        [size as u64, a, b, c, d, e]
    }

    /// What this library understands of them. Words beyond the size are there all the same.
    fn understood(words: &[u64]) -> Result<Second, Unusable> {
        // SAFETY: aligned; the sizes of these tests that are followed are within the words.
        unsafe { read(words.as_ptr().cast::<WithSize<Second>>()) }
    }

    fn written(mut words: [u64; 6]) -> [u64; 6] {
        // SAFETY: as above.
        unsafe { write(words.as_mut_ptr().cast::<WithSize<Second>>(), SECOND) };
        words
    }

    #[test]
    fn its_own_version_is_read_and_written_whole() {
        let whole = WithSize::of(SECOND);
        assert_eq!((whole.size, size_of_val(&whole)), (32, 32));
        // SAFETY: a reference is a pointer that can be used.
        assert_eq!(unsafe { read(&raw const whole) }, Ok(SECOND));
        assert_eq!(written(words(32, [9; 5])), words(32, [1, 2, 3, 9, 9]));
    }

    #[test]
    fn an_older_caller_gives_zeros_and_gets_what_he_knows() {
        assert_eq!(understood(&words(24, [1, 2, 77, 77, 77])), Ok(Second { three: 0, ..SECOND }));
        assert_eq!(written(words(24, [9; 5])), words(24, [1, 2, 9, 9, 9]), "nothing behind his struct");
    }

    #[test]
    fn a_newer_caller_is_taken_while_he_asks_for_nothing_new() {
        assert_eq!(understood(&words(48, [1, 2, 3, 0, 0])), Ok(SECOND));
        assert_eq!(understood(&words(40, [1, 2, 3, 0, 5])), Ok(SECOND), "the last word is not his");
        for new in 0..16 {
            let mut bytes = [0u8; 16];
            bytes[new] = 1;
            let [low, high] = [0, 8].map(|at| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()));
            assert_eq!(understood(&words(48, [1, 2, 3, low, high])), Err(Unusable::Size), "byte {new}");
        }
        assert_eq!(written(words(48, [9; 5])), words(48, [1, 2, 3, 0, 0]));
        assert_eq!(written(words(40, [9; 5])), words(40, [1, 2, 3, 0, 9]));
    }

    #[test]
    fn a_size_that_was_not_set_is_refused_and_nothing_written() {
        for size in [0, 1, 8, 23, 25, 28, 31, BYTES_MAX + 1, BYTES_MAX + 8, isize::MAX as usize, usize::MAX] {
            assert_eq!(understood(&words(size, [1, 2, 3, 0, 0])), Err(Unusable::Size), "{size}");
            assert_eq!(written(words(size, [9; 5])), words(size, [9; 5]), "{size}");
        }
    }

    #[test]
    fn the_largest_size_is_read_to_its_end() {
        let mut most = vec![0u64; BYTES_MAX / 8];
        most[..4].copy_from_slice(&[BYTES_MAX as u64, 1, 2, 3]);
        assert_eq!(understood(&most), Ok(SECOND));
        *most.last_mut().unwrap() = 1 << 63;
        assert_eq!(understood(&most), Err(Unusable::Size));
    }

    #[test]
    fn null_and_misaligned_pointers_are_seen_before_the_size() {
        let words = words(32, [1, 2, 3, 0, 0]);
        let askew = words.as_ptr().cast::<u8>().wrapping_add(1).cast::<WithSize<Second>>();
        for pointer in [core::ptr::null(), askew] {
            // SAFETY: NULL or misaligned: never followed.
            assert_eq!(unsafe { read(pointer) }, Err(Unusable::Pointer));
            // SAFETY: as above.
            unsafe { write(pointer.cast_mut(), SECOND) };
        }
    }

    /// 24 bytes of C, of which the last word is none of the fields.
    #[repr(C)]
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    struct Filled {
        one: u32,
        two: u32,
        three: u32,
    }

    // SAFETY: integers.
    unsafe impl Grows for Filled {
        const FIRST_BYTES: usize = 24;
        type Reserved = u32;
    }

    #[test]
    fn a_reserved_word_is_0() {
        let filled = Filled { one: 1, two: 2, three: 3 };
        let of = |size, last: u64| words(size, [1 | 2 << 32, 3 | last << 32, 0, 0, 0]);
        for size in [24, 32, 40] {
            // SAFETY: within the words.
            let understood = |last| unsafe { read(of(size, last).as_ptr().cast::<WithSize<Filled>>()) };
            assert_eq!(understood(0), Ok(filled), "{size}");
            assert_eq!(understood(1), Err(Unusable::Size), "{size}");
            let mut words = of(size, 9);
            // SAFETY: as above.
            unsafe { write(words.as_mut_ptr().cast::<WithSize<Filled>>(), filled) };
            assert_eq!(words, of(size, 0), "{size}");
        }
    }

    /// A caller of the second version, and this library of the first.
    #[test]
    fn a_library_of_the_first_version_does_not_guess() {
        let newer = WithSize::of(SECOND);
        let pointer = (&raw const newer).cast::<WithSize<First>>();
        // SAFETY: as large as its size says.
        assert_eq!(unsafe { read(pointer) }, Err(Unusable::Size));
        let newer = WithSize::of(Second { three: 0, ..SECOND });
        // SAFETY: as above.
        assert_eq!(unsafe { read((&raw const newer).cast::<WithSize<First>>()) }, Ok(FIRST));
    }
}
