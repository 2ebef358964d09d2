//! `kvledger_cuda.h` says what the Rust side is: sizes, offsets and numbers are compared by a C compiler; and every
//! function of the one is a function of the other.

use kvledger_cuda::Reason;
use kvledger_ffi_cuda::{
    KvlAttendSizes, KvlCpuOptions, KvlDevice, KvlDeviceError, KvlDeviceEvent, KvlDeviceFacts, KvlDeviceStream, WithSize,
};
use std::collections::BTreeSet;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The headers as they are installed: those of the kernels beside the others.
fn include() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("include/kvledger/kernels");
    fs::create_dir_all(&folder).expect("the target folder can be written");
    for header in ["types", "append", "attend", "blocks", "gather"] {
        let name = format!("{header}.h");
        fs::copy(root().join("cuda/kernels").join(&name), folder.join(&name)).expect("the header is there");
    }
    folder.ancestors().nth(2).expect("three folders").to_path_buf()
}

/// `size`: it can grow, and begins with its size, which the fields of the Rust side are behind.
macro_rules! layout {
    (size, $rust:ty as $c:literal { $($field:ident),* }) => {{
        let fields = offset_of!(WithSize<$rust>, fields);
        let mut all = vec![format!("sizeof({}) == {}", $c, size_of::<WithSize<$rust>>())];
        all.push(format!("offsetof({}, size) == 0", $c));
        $(all.push(format!("offsetof({}, {}) == {}", $c, stringify!($field), fields + offset_of!($rust, $field)));)*
        // A field that came into padding later would be read from what an older caller never set.
        let listed = fields $(+ bytes(|whole: &$rust| &whole.$field))*;
        assert_eq!(listed, size_of::<WithSize<$rust>>(), "{}: padding, or a field that is not compared", $c);
        all
    }};
    ($rust:ty as $c:literal { $($field:ident),* }) => {{
        let mut all = vec![format!("sizeof({}) == {}", $c, size_of::<$rust>())];
        $(all.push(format!("offsetof({}, {}) == {}", $c, stringify!($field), offset_of!($rust, $field)));)*
        all
    }};
}

/// Of a field.
fn bytes<T, F>(_: impl Fn(&T) -> &F) -> usize {
    size_of::<F>()
}

#[test]
fn layouts_are_the_same() {
    let mut all = layout!(KvlDevice as "kvl_device" { id });
    all.extend(layout!(KvlDeviceStream as "kvl_device_stream" { id }));
    all.extend(layout!(KvlDeviceEvent as "kvl_device_event" { id }));
    all.extend(layout!(KvlDeviceError as "kvl_device_error" { status, number, text }));
    all.extend(layout!(size, KvlCpuOptions as "kvl_cpu_options" {
        seed, at_once, order, pause_one_in, pause_most_us, fail_allocate, fail_enqueue, fail_work, reserved
    }));
    all.extend(layout!(size, KvlDeviceFacts as "kvl_device_facts" {
        name, memory_bytes, compute, multiprocessors, shared_bytes, reserved
    }));
    all.extend(
        layout!(size, KvlAttendSizes as "kvl_attend_sizes" { table_rows, longest, query_tokens, items, joins, parts }),
    );
    assert!(compiles(&all), "a layout differs");
    assert!(!compiles(&["sizeof(kvl_device) == 9".to_string()]), "a wrong layout is not seen");
}

fn compiles(conditions: &[String]) -> bool {
    let asserts: String = conditions.iter().map(|is| format!("_Static_assert({is}, \"{is}\");\n")).collect();
    let source = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("layout-{}.c", conditions.len()));
    fs::write(&source, format!("#include <kvledger_cuda.h>\n{asserts}")).expect("the target folder can be written");
    let mut compiler = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I"]).arg(include());
    compiler.arg("-I").arg(root().join("ffi/include")).arg(&source);
    compiler.output().expect("there is a C compiler").status.success()
}

/// Names after a word, up to the parenthesis.
fn names(text: &str, before: &str) -> BTreeSet<String> {
    let found = text.split(before).skip(1).filter_map(|rest| rest.split('(').next());
    found.map(|name| name.trim().to_string()).filter(|name| name.starts_with("kvl_device_")).collect()
}

#[test]
fn functions_are_the_same() {
    let header = fs::read_to_string(root().join("ffi/include/kvledger_cuda.h")).expect("the header is there");
    let declared = names(&header, "kvl_device_status ");
    let mut defined = BTreeSet::new();
    for file in fs::read_dir(root().join("ffi/cuda/src")).expect("the source is there") {
        let source = fs::read_to_string(file.expect("a file").path()).expect("text");
        defined.extend(names(&source, "extern \"C\" fn "));
    }
    assert_eq!(declared, defined);
    assert!(declared.len() > 25, "{declared:?}");
}

/// The numbers of the header are those of `error.rs`: each reason that can be made here is answered with its own.
#[test]
fn numbers_are_the_same() {
    let header = fs::read_to_string(root().join("ffi/include/kvledger_cuda.h")).expect("the header is there");
    let number = |name: &str| -> u32 {
        let rest = header.split(&format!("KVL_DEVICE_{name} = ")).nth(1).expect("the header has it");
        rest.split(|end: char| !end.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).expect("a number")
    };
    let reasons = [
        ("NOT_BUILT", Reason::NotBuilt),
        ("NOT_BUILT", Reason::Unfit { compute: 90 }),
        ("NO_DRIVER", Reason::NoDriver),
        ("NO_DEVICE", Reason::NoDevice { count: 0 }),
        ("FOREIGN", Reason::Foreign(kvledger_cuda::Address(1))),
        ("ELSEWHERE", Reason::Elsewhere(kvledger_cuda::Space::Pinned)),
        ("HANDLE", Reason::Handle),
        ("OVERLAP", Reason::Overlap { to: kvledger_cuda::Address(1), from: kvledger_cuda::Address(2) }),
        ("INJECTED", Reason::Injected),
        ("NUMBER", Reason::Number { number: 3, text: "three" }),
    ];
    for (name, reason) in reasons {
        assert_eq!(kvledger_ffi_cuda::status_of(reason), number(name), "{name}");
    }
}
