//! Admission to several pools: `admit_together`.

use crate::admission::KvlAdmission;
use crate::answer::{KvlRefusal, POINTER, invalid, run_apart};
use crate::array::{Span, apart, array, array_mut, span};
use crate::claim::{In, InSized, Out, Output, overlap};
use crate::handle::{KvlPool, view};
use crate::prefix::KvlPrefix;
use kvledger_core::{Admitted, Argument, Joint, Refusal, Sequence, admit_together};

/// Most pools of one request. There is no heap to put more of what the core wants to see into.
pub const JOINTS_MAX: usize = 16;

/// [`Joint`], with pointers to the pool and to what it asks for, which can grow.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KvlJoint<'a> {
    /// The pool; not NULL.
    pub pool: In<'a, KvlPool>,
    /// An opened sequence of it.
    pub sequence: Sequence,
    /// What it asks for there; not NULL.
    pub admission: InSized<'a, KvlAdmission>,
    /// The names of the prompt's blocks there; NULL if nothing is looked for.
    pub prefix: InSized<'a, KvlPrefix>,
}

impl<'a> KvlJoint<'a> {
    /// As the core has it, if nothing that it reads lies over what is `written`.
    ///
    /// # Safety
    /// The arrays of the prefix are NULL or valid for as many entries for `'a`.
    unsafe fn joint(&self, written: Span) -> Result<Joint<'a, 'static>, Refusal> {
        apart(&[written], &[self.pool.range(), self.admission.range(), self.prefix.range()])?;
        let prefix = self.prefix.optional()?.unwrap_or(KvlPrefix::NONE);
        apart(&[written], &prefix.spans())?;
        let pool = view(self.pool)?;
        let admission = self.admission.given()?.admission()?;
        // SAFETY: the caller's promise.
        let prefix = unsafe { prefix.prefix() }?;
        Ok(Joint { pool, sequence: self.sequence, admission, prefix })
    }
}

/// `admit_together`. `admitted` has `count` entries; `refused_at` may be NULL.
///
/// # Safety
/// `joints` and `admitted` are NULL or valid for `count` entries, and so are the arrays of each prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_admit_together(
    joints: *const KvlJoint<'_>,
    count: usize,
    admitted: *mut Admitted,
    refused_at: Out<'_, usize>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    let written = [span(admitted, count), refused_at.range()];
    // SAFETY: the caller's promise.
    if refused_at.is_askew() || unsafe { over_views(joints, count, &[refusal.range(), refused_at.range()]) } {
        return POINTER.code();
    }
    let [answers, at] = written;
    run_apart(refusal, &[answers, at, span(joints, count)], || {
        apart(&written, &[span(joints, count)])?;
        // SAFETY: the caller's promise.
        let joints = unsafe { array(joints, count) }?;
        // Before there is a reference to what is written: what joints point to may lie over it.
        // SAFETY: the caller's promise.
        let understood = unsafe { understand(joints, span(admitted, count)) };
        // SAFETY: the caller's promise.
        let admitted = unsafe { array_mut(admitted, count) }?;
        let answer =
            understood.and_then(|list| admit_together(list.get(..joints.len()).ok_or((0, POINTER))?, admitted));
        answer.map_err(|(index, why)| {
            refused_at.write(index);
            why
        })
    })
}

/// Whether what is written on refusal lies over the view of a joint, which it would destroy.
///
/// # Safety
/// `joints` is NULL or valid for `count` entries.
unsafe fn over_views(joints: *const KvlJoint<'_>, count: usize, details: &[Span]) -> bool {
    // SAFETY: the caller's promise.
    let joints = unsafe { array(joints, count) }.unwrap_or_default();
    let mut views = joints.iter().take(JOINTS_MAX).map(|joint| joint.pool.range());
    views.any(|view| details.iter().any(|&one| overlap(one, view)))
}

/// The joints as the core has them; beyond their count the first is repeated. Which one is wrong, and why: also if arrays of
/// its prefix lie over what is written.
///
/// # Safety
/// The arrays of each prefix are NULL or valid for as many entries for `'a`.
unsafe fn understand<'a>(
    joints: &[KvlJoint<'a>],
    written: Span,
) -> Result<[Joint<'a, 'static>; JOINTS_MAX], (usize, Refusal)> {
    const NOBODY: (usize, Refusal) = (0, invalid(Argument::Count));
    let mut understood = [None; JOINTS_MAX];
    if joints.len() > JOINTS_MAX {
        return Err(NOBODY);
    }
    for (index, (joint, place)) in joints.iter().zip(&mut understood).enumerate() {
        // SAFETY: the caller's promise.
        *place = Some(unsafe { joint.joint(written) }.map_err(|why| (index, why))?);
    }
    // The core takes a list without gaps: what is beyond the count is not looked at.
    let [first, ..] = understood;
    let first = first.ok_or(NOBODY)?;
    Ok(understood.map(|joint| joint.unwrap_or(first)))
}
