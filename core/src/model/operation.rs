//! One operation: six bytes, from a seed or from a fuzzer. The bytes are read against what is there when it is applied
//! (the k-th handle of those ever given out), so that a list of operations stays meaningful when some are left out.

use super::Random;

/// What to do, and five numbers that say to what and how much.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    pub(super) kind: u8,
    pub(super) numbers: [u8; 5],
}

/// The kinds, with how often each is drawn.
const WEIGHTS: [(Kind, u32); 42] = [
    (Kind::Open, 18),
    (Kind::Admit, 28),
    (Kind::Advance, 36),
    (Kind::AdvanceGrowing, 10),
    (Kind::AdvanceMany, 4),
    (Kind::Materialize, 4),
    (Kind::Extend, 5),
    (Kind::Shrink, 4),
    (Kind::DrawSafety, 2),
    (Kind::Cancel, 1),
    (Kind::End, 9),
    (Kind::Preempt, 3),
    (Kind::UseStreams, 2),
    (Kind::OpenAccount, 3),
    (Kind::SetAccountTotal, 3),
    (Kind::CloseAccount, 2),
    (Kind::SetSafety, 1),
    (Kind::SetQuota, 2),
    (Kind::Submit, 14),
    (Kind::Complete, 14),
    (Kind::Abandon, 1),
    (Kind::Reclaim, 1),
    (Kind::LaunchRow, 4),
    (Kind::Publish, 26),
    (Kind::Withdraw, 2),
    (Kind::Pin, 4),
    (Kind::Unpin, 4),
    (Kind::WithdrawAdmission, 2),
    (Kind::Evict, 2),
    (Kind::Reset, 1),
    (Kind::Release, 3),
    (Kind::ReleaseTokens, 2),
    (Kind::Trim, 3),
    (Kind::Fork, 8),
    (Kind::CopySubmitted, 5),
    (Kind::Speculate, 6),
    (Kind::Accept, 7),
    (Kind::Hold, 5),
    (Kind::HoldBlocks, 5),
    (Kind::CompleteTransfer, 7),
    (Kind::Revoke, 3),
    (Kind::Quarantine, 2),
];

/// The operations of a pool that change something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Open,
    Admit,
    Advance,
    AdvanceGrowing,
    AdvanceMany,
    Materialize,
    Extend,
    Shrink,
    DrawSafety,
    Cancel,
    End,
    Preempt,
    UseStreams,
    OpenAccount,
    SetAccountTotal,
    CloseAccount,
    SetSafety,
    SetQuota,
    Submit,
    Complete,
    Abandon,
    Reclaim,
    LaunchRow,
    Publish,
    Withdraw,
    Pin,
    Unpin,
    WithdrawAdmission,
    Evict,
    Reset,
    Release,
    ReleaseTokens,
    Trim,
    Fork,
    CopySubmitted,
    Speculate,
    Accept,
    Hold,
    HoldBlocks,
    CompleteTransfer,
    Revoke,
    Quarantine,
}

impl Operation {
    /// Bytes of one operation.
    pub const BYTES: usize = 6;

    /// From a fuzzer's bytes.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Operation {
        let [kind, a, b, c, d, e] = bytes;
        Operation { kind, numbers: [a, b, c, d, e] }
    }

    /// A random one, by weight.
    pub(super) fn random(random: &mut Random) -> Operation {
        let total: u32 = WEIGHTS.iter().map(|(_, weight)| weight).sum();
        let mut rest = random.below(total);
        let mut kind = 0;
        for (index, (_, weight)) in WEIGHTS.iter().enumerate() {
            if rest < *weight {
                kind = index as u8;
                break;
            }
            rest -= weight;
        }
        let [a, b, c, d, e, ..] = random.next().to_le_bytes();
        Operation { kind, numbers: [a, b, c, d, e] }
    }

    pub(super) fn kind(&self) -> Kind {
        WEIGHTS[self.kind as usize % WEIGHTS.len()].0
    }

    /// The same with one number made smaller, for each number that can be.
    pub(super) fn simpler(self) -> impl Iterator<Item = Operation> {
        (0..self.numbers.len()).flat_map(move |index| {
            let now = self.numbers[index];
            [0, now / 2, now.saturating_sub(1)].into_iter().filter(move |&less| less < now).map(move |less| {
                let mut simpler = self;
                simpler.numbers[index] = less;
                simpler
            })
        })
    }
}

impl core::fmt::Debug for Operation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?}{:?}", self.kind(), self.numbers)
    }
}
