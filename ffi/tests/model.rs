//! The model's random operations, every call through the C ABI: what C is answered is what the core answers, and every
//! observer agrees with the model after each. And every answer is one that the header lists of the function.
//!
//! `KVLEDGER_OPERATIONS` is how many (a tenth of a million otherwise); CI asks for millions.

mod common;
#[path = "common/listed.rs"]
mod listed;

use common::{sized, the, to};
use kvledger_core::identity::Identity;
use kvledger_core::model::{Comparison, Made, configuration, operations};
use kvledger_core::recorder::{Answer, Call, Handles, Named, Numbers};
use kvledger_core::{Admission, Argument, BlockId, Epoch, Place, Pool, Promise, Refusal, Scope, Sequence, Step};
use kvledger_ffi::*;
use listed::Listed;
use std::mem::{MaybeUninit, transmute};
use std::ptr::null_mut;
use std::sync::LazyLock;

/// The operations of one pool.
const EPISODE: u64 = 1_000;

static LISTED: LazyLock<Listed> = LazyLock::new(Listed::read);

/// The function of C that makes a call.
fn function(call: &Call<'_>) -> String {
    match call {
        Call::Admit { .. } => "kvl_admit_prefix".to_string(),
        Call::Release { .. } => "kvl_release_blocks".to_string(),
        Call::Reset { group: None } => "kvl_reset_all".to_string(),
        _ => format!("kvl_{}", call.name()),
    }
}

/// The header lists what was answered.
fn is_listed(call: &Call<'_>, made: &Made) {
    let function = function(call);
    match (call, made.answer) {
        // The statuses of its rows, without their arguments. (What the core refuses for lengths cannot be said in C.)
        (Call::AdvanceMany { .. }, Ok(_)) => {
            let invalid = Refusal::Invalid { argument: Argument::Tokens }.code();
            let other = made.answers.iter().find(|&&code| code != invalid && !LISTED.has(&function, code, 0));
            assert_eq!(other, None, "{function} answers a row with what is not in the header");
        }
        (Call::AdvanceMany { .. }, Err(_)) | (_, Ok(_)) => {}
        (_, Err(refusal)) => {
            let KvlRefusal { code, argument, .. } = refusal.into();
            assert!(LISTED.has(&function, code, argument), "{function} answers {refusal}, which is not in the header");
        }
    }
}

/// A call of C, with what it wrote as the core has it.
fn answer<T: Into<Answer>>(call: impl FnOnce(Out<'_, T>, Out<'_, KvlRefusal>) -> u32) -> Result<Answer, Refusal> {
    let (mut out, mut why) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    match call(to(&mut out), to(&mut why)) {
        // SAFETY: written on success.
        0 => Ok(unsafe { out.assume_init() }.into()),
        // SAFETY: written on refusal.
        status => Err(refusal(status, unsafe { why.assume_init() })),
    }
}

fn done(call: impl FnOnce(Out<'_, KvlRefusal>) -> u32) -> Result<Answer, Refusal> {
    let mut why = MaybeUninit::uninit();
    match call(to(&mut why)) {
        0 => Ok(Answer::Done),
        // SAFETY: written on refusal.
        status => Err(refusal(status, unsafe { why.assume_init() })),
    }
}

/// Every field that a refusal has not is 0, and its code is the status: so the numbers are a refusal, or the test fails.
fn refusal(status: u32, why: KvlRefusal) -> Refusal {
    assert_eq!(why.code, status);
    let KvlRefusal { short_by, reclaimable, needed, ceiling, after, .. } = why;
    let refusal = match status {
        1 => Refusal::WouldBlock { short_by, scope: Scope::from_number(why.scope).expect("a scope") },
        2 => Refusal::RetryAfter { after: Epoch(after), reclaimable },
        3 => Refusal::NeverFits { needed, ceiling },
        4 => Refusal::OverPromise { short_by },
        5 => Refusal::Cancelled,
        6 => Refusal::Stale,
        7 => Refusal::Invalid { argument: Argument::from_number(why.argument).expect("an argument") },
        8 => Refusal::Full,
        9 => Refusal::Busy,
        10 => Refusal::Corrupt { place: Place::from_number(why.place).expect("a place") },
        other => panic!("status {other}"),
    };
    assert_eq!(KvlRefusal::from(refusal), why, "no other field is set");
    refusal
}

fn admission(from: &Admission) -> KvlAdmission {
    let (promise, promise_blocks) = match from.promise {
        Promise::Full => (0, 0),
        Promise::Blocks(blocks) => (1, blocks),
    };
    KvlAdmission {
        prompt_tokens: from.prompt_tokens,
        output_tokens_max: from.output_tokens_max,
        speculative_tokens: from.speculative_tokens,
        window: from.window,
        promise,
        promise_blocks,
        group: from.group.0,
        watermark: from.watermark,
        streams: from.streams.0,
        account: from.account,
    }
}

/// A prefix with the arrays that it points to.
struct Prefix {
    identities: Vec<Identity>,
    tokens: Vec<u32>,
    unfinished: u32,
    blocks_max: u32,
}

impl Prefix {
    fn of(named: &Named<'_>) -> Prefix {
        let (mut identities, mut tokens) = (Vec::new(), Vec::new());
        named.identities.each(|identity| identities.push(identity));
        named.tokens.each(|token| tokens.push(token));
        Prefix { identities, tokens, unfinished: named.unfinished.into(), blocks_max: named.blocks_max }
    }

    fn c(&self) -> WithSize<KvlPrefix> {
        sized(KvlPrefix {
            identities: self.identities.as_ptr(),
            count: self.identities.len(),
            tokens: self.tokens.as_ptr(),
            token_count: self.tokens.len(),
            unfinished: self.unfinished,
            blocks_max: self.blocks_max,
        })
    }
}

fn handles(list: &Handles<'_>) -> Vec<Sequence> {
    let mut all = Vec::new();
    list.each(|sequence| all.push(sequence));
    all
}

fn ids(numbers: &Numbers<'_>) -> Vec<BlockId> {
    let mut all = Vec::new();
    numbers.each(|id| all.push(BlockId(id)));
    all
}

/// Makes a call as C would.
fn make(core: &Pool<'_>, call: &Call<'_>) -> Made {
    let made = call_c(core, call);
    is_listed(call, &made);
    made
}

fn call_c(core: &Pool<'_>, call: &Call<'_>) -> Made {
    // SAFETY: a view of a pool that outlives the call; the lifetime is the only difference.
    let view = KvlPool::new(unsafe { transmute::<Pool<'_>, Pool<'static>>(*core) });
    let pool = || the(&view);
    let (mut answers, mut changed, mut found) = (Vec::new(), Vec::new(), Vec::new());
    // SAFETY, for every call below that is unsafe: arrays are as long as they are said to be.
    let answer = match *call {
        Call::Open => answer(|out, why| kvl_open(pool(), out, why)),
        Call::Admit { sequence, admission: ref asked, ref prefix } => {
            let (asked, prefix) = (admission(asked), Prefix::of(prefix));
            // SAFETY: as above.
            answer(|out, why| unsafe {
                kvl_admit_prefix(pool(), sequence, the(&sized(asked)), the(&prefix.c()), out, why)
            })
        }
        Call::Advance { sequence, tokens } => answer(|out, why| kvl_advance(pool(), sequence, tokens, out, why)),
        Call::AdvanceGrowing { sequence, tokens, watermark } => {
            answer(|out, why| kvl_advance_growing(pool(), sequence, tokens, watermark, out, why))
        }
        Call::AdvanceMany { ref steps, answers: answers_len, changed: changed_len } => {
            let steps: Vec<Step> = steps.iter().collect();
            let room = |len: u32| vec![u32::MAX; steps.len().min(len as usize)];
            (answers, changed) = (room(answers_len), room(changed_len));
            if answers.len() < steps.len() || changed.len() < steps.len() {
                // In C one count stands for all three: what the core refuses for its lengths cannot be said.
                return kvledger_core::model::make(core, call);
            }
            let (a, c) = (answers.as_mut_ptr(), changed.as_mut_ptr());
            // SAFETY: as above.
            answer(|out, why| unsafe { kvl_advance_many(pool(), steps.as_ptr(), steps.len(), a, c, out, why) })
        }
        Call::Materialize { sequence, blocks } => {
            answer(|out, why| kvl_materialize(pool(), sequence, blocks, out, why))
        }
        Call::Extend { sequence, blocks, watermark } => {
            done(|why| kvl_extend(pool(), sequence, blocks, watermark, why))
        }
        Call::Shrink { sequence, blocks } => answer::<u32>(|out, why| kvl_shrink(pool(), sequence, blocks, out, why)),
        Call::DrawSafety { sequence, blocks } => done(|why| kvl_draw_safety(pool(), sequence, blocks, why)),
        Call::Cancel { sequence } => done(|why| kvl_cancel(pool(), sequence, why)),
        Call::End { sequence } => answer(|out, why| kvl_end(pool(), sequence, out, why)),
        Call::Preempt { sequence } => answer(|out, why| kvl_preempt(pool(), sequence, out, why)),
        Call::UseStreams { sequence, streams } => done(|why| kvl_use_streams(pool(), sequence, streams.0, why)),
        Call::OpenAccount { group, total, watermark } => {
            answer(|out, why| kvl_open_account(pool(), group.0, total, watermark, out, why))
        }
        Call::SetAccountTotal { account, total } => done(|why| kvl_set_account_total(pool(), account, total, why)),
        Call::CloseAccount { account } => done(|why| kvl_close_account(pool(), account, why)),
        Call::SetSafety { blocks } => done(|why| kvl_set_safety(pool(), blocks, why)),
        Call::SetQuota { group, blocks } => done(|why| kvl_set_quota(pool(), group.0, blocks, why)),
        Call::Submit { stream } => answer::<Epoch>(|out, why| kvl_submit(pool(), stream.0, out, why)),
        Call::Complete { stream, epoch, failed } => {
            answer::<Epoch>(|out, why| kvl_complete(pool(), stream.0, epoch.0, failed.into(), out, why))
        }
        Call::Abandon { stream } => answer::<Epoch>(|out, why| kvl_abandon(pool(), stream.0, out, why)),
        Call::Reclaim { blocks } => answer::<u32>(|out, why| kvl_reclaim(pool(), blocks, out, why)),
        Call::LaunchRow { sequence, epoch } => answer(|out, why| kvl_launch_row(pool(), sequence, epoch.0, out, why)),
        Call::Publish { sequence, first, ref prefix, epoch, keep } => {
            let prefix = Prefix::of(prefix);
            found = vec![BlockId(u32::MAX); prefix.identities.len()];
            let (to, len) = (if found.is_empty() { null_mut() } else { found.as_mut_ptr() }, found.len());
            // SAFETY: as above.
            answer(|out, why| unsafe {
                kvl_publish(pool(), sequence, first, the(&prefix.c()), epoch.0, keep.into(), to, len, out, why)
            })
        }
        Call::Withdraw { sequence, first, count } => {
            answer::<u32>(|out, why| kvl_withdraw(pool(), sequence, first, count, out, why))
        }
        Call::Pin { sequence, group, streams, ref prefix, watermark } => {
            let prefix = Prefix::of(prefix);
            // SAFETY: as above.
            answer(|out, why| unsafe {
                kvl_pin(pool(), sequence, group.0, streams.0, the(&prefix.c()), watermark, out, why)
            })
        }
        Call::WithdrawAdmission { sequence } => answer(|out, why| kvl_withdraw_admission(pool(), sequence, out, why)),
        Call::Unpin { sequence } => answer(|out, why| kvl_unpin(pool(), sequence, out, why)),
        Call::Evict { blocks } => answer::<u32>(|out, why| kvl_evict(pool(), blocks, out, why)),
        Call::Reset { group: Some(group) } => done(|why| kvl_reset(pool(), group.0, why)),
        Call::Reset { group: None } => done(|why| kvl_reset_all(pool(), why)),
        Call::Hold { sequence, first, count, access } => {
            answer(|out, why| kvl_hold(pool(), sequence, first, count, access as u32, out, why))
        }
        Call::HoldBlocks { ids: ref named, access } => {
            let named = ids(named);
            // SAFETY: as above.
            answer(|out, why| unsafe { kvl_hold_blocks(pool(), named.as_ptr(), named.len(), access as u32, out, why) })
        }
        Call::CompleteTransfer { transfer } => {
            answer::<u32>(|out, why| kvl_complete_transfer(pool(), transfer, out, why))
        }
        Call::Revoke { transfer } => answer::<u32>(|out, why| kvl_revoke(pool(), transfer, out, why)),
        Call::Quarantine { transfer } => done(|why| kvl_quarantine(pool(), transfer, why)),
        Call::Release { sequence, ids: ref named } => {
            let named = ids(named);
            // SAFETY: as above.
            answer(|out, why| unsafe { kvl_release_blocks(pool(), sequence, named.as_ptr(), named.len(), out, why) })
        }
        Call::ReleaseTokens { sequence, from, to } => {
            answer(|out, why| kvl_release_tokens(pool(), sequence, from, to, out, why))
        }
        Call::Fork { parent, ref children, output_tokens_max, watermark } => {
            let children = handles(children);
            // SAFETY: as above.
            answer(|out, why| unsafe {
                kvl_fork(pool(), parent, children.as_ptr(), children.len(), output_tokens_max, watermark, out, why)
            })
        }
        Call::CopySubmitted { sequence, epoch } => done(|why| kvl_copy_submitted(pool(), sequence, epoch.0, why)),
        Call::Speculate { sequence, tokens } => answer(|out, why| kvl_speculate(pool(), sequence, tokens, out, why)),
        Call::Accept { sequence, tokens, give_back } => {
            answer(|out, why| kvl_accept(pool(), sequence, tokens, give_back.into(), out, why))
        }
        Call::Trim { sequence, tokens } => answer(|out, why| kvl_trim(pool(), sequence, tokens, out, why)),
        // `Call` may grow: then this test does.
        _ => panic!("{} is made in the core only", call.name()),
    };
    Made { answer, answers, changed, found }
}

#[test]
fn c_is_answered_as_the_model() {
    let asked = std::env::var("KVLEDGER_OPERATIONS").map_or(100_000, |text| text.parse().expect("a number"));
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let episodes = u64::div_ceil(asked, EPISODE);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for seed in (thread..episodes).step_by(threads as usize) {
                    let (config, list) = (configuration(seed), operations(seed, EPISODE as usize));
                    if let Err(difference) = Comparison::run_through(&config, &list, make) {
                        panic!("seed {seed}: {difference}");
                    }
                }
            });
        }
    });
}

#[test]
fn what_the_header_does_not_list_is_noticed() {
    let invalid = |argument: Argument| (Refusal::Invalid { argument }.code(), argument as u32);
    let has = |function, (status, argument)| LISTED.has(function, status, argument);
    let (full, busy) = ((Refusal::Full.code(), 0), (Refusal::Busy.code(), 0));
    assert!(has("kvl_open", full) && !has("kvl_open", busy));
    // Out of a set, of a set within one, and after another one of its prefix.
    assert!(has("kvl_advance", invalid(Argument::Tokens)) && !has("kvl_advance", invalid(Argument::Block)));
    assert!(has("kvl_admit_prefix", (3, 0)) && !has("kvl_shrink", (3, 0)));
    assert!(has("kvl_shrink", invalid(Argument::Account)) && !has("kvl_shrink", invalid(Argument::Group)));
}

/// A C face that answers something else is noticed.
#[test]
fn a_wrong_answer_is_noticed() {
    fn wrong(pool: &Pool<'_>, call: &Call<'_>) -> Made {
        let made = make(pool, call);
        match (call, &made.answer) {
            (Call::Submit { .. }, Ok(Answer::Epoch(epoch))) => {
                Made { answer: Ok(Answer::Epoch(Epoch(epoch.0 + 1))), ..made }
            }
            _ => made,
        }
    }
    let (config, list) = (configuration(1), operations(1, 200));
    assert!(Comparison::run_through(&config, &list, wrong).is_err());
}
