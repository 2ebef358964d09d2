//! What a call costs through the C ABI over the same call in Rust: both in turn, many rounds, on pools of their own.
//!
//!     cargo bench -p kvledger-ffi --profile capi      as the archive is compiled
//!
//! Prints nanoseconds a call of each, and the median of the differences of rounds. It fails nothing: machines are noisy.

use kvledger_core::{
    Account, Admission, Admitted, Advanced, Counts, Epoch, Line, Pool, PoolConfig, Released, RowView, Sequence, Stream,
    Window,
};
use kvledger_ffi::*;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::time::Instant;

const CALLS: u32 = 20_000;
const ROUNDS: usize = 301;

/// A pool with room for sequences of a hundred thousand tokens, its memory leaked.
fn pool() -> Pool<'static> {
    let config = PoolConfig::new(1 << 16, 16, 64, 1 << 15);
    let memory = vec![Line::ZERO; config.bytes().expect("a pool") / size_of::<Line>()].leak();
    let table = vec![0; config.table_entries().expect("a pool")].leak();
    Pool::init(memory, table, &config).expect("a pool")
}

/// Nanoseconds a call.
fn time(mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..CALLS {
        call();
    }
    start.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Both in turn; which is first changes from round to round.
fn pair(name: &str, mut rust: impl FnMut(), mut c: impl FnMut()) {
    let (mut in_rust, mut in_c, mut over) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let (r, c) = if round % 2 == 0 {
            let r = time(&mut rust);
            (r, time(&mut c))
        } else {
            let c = time(&mut c);
            (time(&mut rust), c)
        };
        in_rust.push(r);
        in_c.push(c);
        over.push(c - r);
    }
    println!("{name:22} {:9.1} {:9.1} {:9.1}", median(in_rust), median(in_c), median(over));
}

/// What a C compiler would call: a function that this program cannot see into.
macro_rules! opaque {
    ($function:expr) => {
        black_box($function)
    };
}

fn out<T>(place: &mut MaybeUninit<T>) -> Out<'_, T> {
    Out::of(place)
}

fn running(pool: &Pool<'_>) -> Sequence {
    let sequence = pool.open().expect("a slot");
    pool.admit(sequence, &Admission::full(1, 100)).expect("room");
    pool.advance(sequence, 1).expect("promised");
    sequence
}

fn main() {
    let pool = pool();
    let view = KvlPool::new(pool);
    let c = || In::of(&view);
    println!("{:22} {:>9} {:>9} {:>9}", "ns a call", "Rust", "C", "over");

    let counts = opaque!(kvl_counts as extern "C" fn(In<'_, KvlPool>, Out<'_, Counts>, Out<'_, KvlRefusal>) -> u32);
    let mut seen = MaybeUninit::<Counts>::uninit();
    pair("counts", || _ = black_box(pool.counts()), || _ = black_box(counts(c(), out(&mut seen), Out::NONE)));

    // One token after the other: a block every sixteen of them; a sequence ends before its row is full.
    let advance = opaque!(
        kvl_advance as extern "C" fn(In<'_, KvlPool>, Sequence, u32, Out<'_, Advanced>, Out<'_, KvlRefusal>) -> u32
    );
    let growing = |pool: &Pool<'_>| {
        let sequence = pool.open().expect("a slot");
        pool.admit(sequence, &Admission::full(1, 400_000)).expect("room");
        pool.advance(sequence, 1).expect("promised");
        (sequence, 0)
    };
    let (mut ours, mut theirs) = (growing(&pool), growing(&pool));
    let next = |pool: &Pool<'_>, (sequence, tokens): &mut (Sequence, u32)| {
        *tokens += 1;
        if *tokens == 300_000 {
            pool.end(*sequence).expect("it runs");
            (*sequence, *tokens) = growing(pool);
        }
        *sequence
    };
    let mut advanced = MaybeUninit::<Advanced>::uninit();
    pair(
        "advance by one",
        || {
            let sequence = next(&pool, &mut ours);
            _ = black_box(pool.advance(sequence, 1));
        },
        || {
            let sequence = next(&pool, &mut theirs);
            _ = black_box(advance(c(), sequence, 1, out(&mut advanced), Out::NONE));
        },
    );
    pool.end(ours.0).expect("it runs");
    pool.end(theirs.0).expect("it runs");

    let submit = opaque!(kvl_submit as extern "C" fn(In<'_, KvlPool>, u32, Out<'_, Epoch>, Out<'_, KvlRefusal>) -> u32);
    let complete = opaque!(
        kvl_complete as extern "C" fn(In<'_, KvlPool>, u32, u64, u32, Out<'_, Epoch>, Out<'_, KvlRefusal>) -> u32
    );
    let (mut epoch, mut frontier) = (MaybeUninit::<Epoch>::uninit(), MaybeUninit::<Epoch>::uninit());
    pair(
        "submit and complete",
        || {
            let epoch = pool.submit(Stream(0)).expect("room");
            _ = black_box(pool.complete(Stream(0), epoch, false));
        },
        || {
            submit(c(), 0, out(&mut epoch), Out::NONE);
            // SAFETY: written on success, and there is room for one epoch.
            let epoch = unsafe { epoch.assume_init() };
            _ = black_box(complete(c(), 0, epoch.0, 0, out(&mut frontier), Out::NONE));
        },
    );

    let row =
        opaque!(kvl_row as extern "C" fn(In<'_, KvlPool>, Sequence, Out<'_, RowView>, Out<'_, KvlRefusal>) -> u32);
    let sequence = running(&pool);
    let mut view_of_row = MaybeUninit::uninit();
    pair(
        "row",
        || _ = black_box(pool.row(sequence)),
        || _ = black_box(row(c(), sequence, out(&mut view_of_row), Out::NONE)),
    );
    pool.end(sequence).expect("it runs");

    let (open, admit, end) = (
        opaque!(kvl_open as extern "C" fn(In<'_, KvlPool>, Out<'_, Sequence>, Out<'_, KvlRefusal>) -> u32),
        opaque!(
            kvl_admit
                as extern "C" fn(
                    In<'_, KvlPool>,
                    Sequence,
                    InSized<'_, KvlAdmission>,
                    Out<'_, Admitted>,
                    Out<'_, KvlRefusal>,
                ) -> u32
        ),
        opaque!(kvl_end as extern "C" fn(In<'_, KvlPool>, Sequence, Out<'_, Released>, Out<'_, KvlRefusal>) -> u32),
    );
    let mut asked = WithSize::of(KvlAdmission {
        prompt_tokens: 0,
        output_tokens_max: 0,
        speculative_tokens: 0,
        window: Window::default(),
        promise: 0,
        promise_blocks: 0,
        group: 0,
        watermark: 0,
        streams: 0,
        account: Account::default(),
    });
    kvl_admission_full(100, 100, OutSized::of(&mut asked), Out::NONE);
    let (mut handle, mut admitted, mut released) =
        (MaybeUninit::<Sequence>::uninit(), MaybeUninit::<Admitted>::uninit(), MaybeUninit::<Released>::uninit());
    pair(
        "open, admit, end",
        || {
            let sequence = pool.open().expect("a slot");
            _ = black_box(pool.admit(sequence, &Admission::full(100, 100)));
            _ = black_box(pool.end(sequence));
        },
        || {
            open(c(), out(&mut handle), Out::NONE);
            // SAFETY: written on success, and there is a slot.
            let sequence = unsafe { handle.assume_init() };
            _ = black_box(admit(c(), sequence, InSized::of(&asked), out(&mut admitted), Out::NONE));
            _ = black_box(end(c(), sequence, out(&mut released), Out::NONE));
        },
    );
}
