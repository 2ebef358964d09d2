//! Retiring blocks on their way to the free list or to rest, and the answers that are computed from those that cannot go yet.

use super::{Counter, Pool};
use crate::accounts::Credit;
use crate::answer::{Refusal, Scope};
use crate::balance::{self, Balance};
use crate::bits::{Places, bit_at, mask_of, word_of};
use crate::block::{Kind, Word};
use crate::blocks::Tag;
use crate::ids::{Epoch, Group, StreamSet};
use crate::recorder::Call;
use crate::retire::{BUCKETS, Retiring, Survey};
use crate::sync::{AcqRel, Plant, Stop, full_fence, planted, point, stopped};

/// Blocks of one word that pay the same account.
struct Parcel {
    /// Those that go to the free list.
    mask: u64,
    /// How many rest from now on, where they can be found.
    resting: u32,
    group: Group,
    credit: Credit,
}

impl Parcel {
    const fn is_empty(&self) -> bool {
        self.mask == 0 && self.resting == 0
    }
}

/// The last question about time and its answer: blocks of one word mostly have the same tag.
struct Memo {
    epoch: Epoch,
    streams: StreamSet,
    over: bool,
}

impl<'m> Pool<'m> {
    /// Up to `blocks_max` retiring blocks whose work is over leave A, and are free or idle; how many it was. `complete` does
    /// this itself, and so does a call that needs blocks.
    ///
    /// Never fails. Threads: any; two reclaimers share the work. Progress: lock-free. Cost: O(words of retiring blocks).
    pub fn reclaim(&self, blocks_max: u32) -> u32 {
        self.recorded(Call::Reclaim { blocks: blocks_max }, |pool| Ok(pool.reclaim_up_to(blocks_max))).unwrap_or(0)
    }

    pub(super) fn reclaim_up_to(&self, blocks_max: u32) -> u32 {
        if self.retiring.is_empty() {
            return 0;
        }
        // O20, pairs with O20 in `settle_gone`: what completed is written before the buckets are read.
        full_fence();
        self.streams.frontier();
        let mut freed = 0;
        for bucket in 0..BUCKETS {
            if freed >= blocks_max {
                break;
            }
            freed += self.reclaim_bucket(bucket, blocks_max - freed);
        }
        freed
    }

    /// A shared block that is retiring waits in the bucket of its tag's epoch. It may be hit meanwhile, and its bit must not stay
    /// behind; it may be retiring again meanwhile, and then its bit must be there.
    ///
    /// ```text
    ///   retire                           hit
    ///   word: retiring
    ///                                    word: held; its bit is not there yet
    ///   bit
    ///   word is held: take the bit out   ✓
    /// ```
    pub(super) fn wait_in_bucket(&self, id: u32, tag: &Tag) {
        // Its fence is the one of O20 too, as in `settle_gone`.
        let tag = self.push_shared(id, tag.epoch);
        if self.streams.is_over(tag.epoch, tag.streams) {
            self.look_again(tag.epoch);
        }
    }

    /// The tag of the block when its bit was there, or was not to be there.
    ///
    /// It may be hit before its bit is there, and retire again into another bucket: then that one has it, and not two.
    fn push_shared(&self, id: u32, epoch: Epoch) -> Tag {
        let mut tag = self.blocks.tag(id);
        let waits_here = |tag: &mut Tag| {
            let word = self.blocks.word(id);
            *tag = self.blocks.tag(id);
            word.is(Kind::Retiring) && word.holds() == 0 && Retiring::bucket_of(tag.epoch) == Retiring::bucket_of(epoch)
        };
        loop {
            point("retire: in no bucket yet");
            self.retiring.push(epoch, word_of(id), mask_of(id));
            // O28, pairs with O28 in `unlink`: either who hits it takes the bit out, or we see that it was hit.
            full_fence();
            if waits_here(&mut tag) {
                return tag;
            }
            self.retiring.forget(epoch, id);
            // It may have retired again into this bucket: then that was its bit.
            if !waits_here(&mut tag) {
                return tag;
            }
        }
    }

    /// After a push into the bucket of `epoch`, when that turned out to be over already.
    pub(super) fn look_again(&self, epoch: Epoch) {
        if !planted(Plant::NoSecondLook) {
            self.reclaim_bucket(Retiring::bucket_of(epoch), u32::MAX);
        }
    }

    fn reclaim_bucket(&self, bucket: usize, blocks_max: u32) -> u32 {
        let (mut freed, mut from) = (0, 0);
        while freed < blocks_max {
            let Some((word, bits)) = self.retiring.next(bucket, from) else { break };
            let mut memo = Memo { epoch: Epoch::NONE, streams: StreamSet(0), over: true };
            let wanted = self.looks_over(word, bits, blocks_max - freed, &mut memo);
            from = word + 1;
            if wanted == 0 {
                continue;
            }
            let claimed = self.retiring.claim(bucket, word, wanted);
            point("reclaim: claimed");
            if planted(Plant::ReclaimerHoards) {
                while let Some((word, bits)) = self.retiring.next(bucket, word) {
                    self.retiring.claim(bucket, word, bits);
                }
            }
            if stopped(Stop::ReclaimerHasClaimed) {
                return u32::MAX;
            }
            let (count, kept) = self.reclaim_claimed(word, claimed, &mut memo);
            freed += count;
            // A late push (`retire.rs`): what completed while these were in our hands did not see them.
            if let Some(tag) = kept {
                full_fence();
                if self.streams.is_over(tag.epoch, tag.streams) {
                    from = word;
                }
            }
        }
        freed
    }

    /// The blocks of one word of a bucket that look over: tags that are not trusted, but worth a look, so that what
    /// plainly waits is left where it is. At most `blocks_max` of them.
    fn looks_over(&self, word: usize, bits: u64, blocks_max: u32, memo: &mut Memo) -> u64 {
        let over = Places(bits).filter(|&bit| self.is_over(&self.blocks.tag(bit_at(word, bit)), memo));
        over.take(blocks_max as usize).fold(0, |wanted, bit| wanted | 1 << bit)
    }

    /// Blocks of one word whose bits this reclaimer has claimed: at most these 64 are ever in its hands. How many went
    /// home, and the tag of one that turned out to have to wait.
    fn reclaim_claimed(&self, word: usize, claimed: u64, memo: &mut Memo) -> (u32, Option<Tag>) {
        let mut parcel = Parcel { mask: 0, resting: 0, group: Group(0), credit: Credit::NONE };
        let (mut freed, mut kept) = (0, None);
        for bit in Places(claimed) {
            let id = bit_at(word, bit);
            if !self.blocks.claim(id) {
                continue;
            }
            let tag = self.blocks.tag(id);
            if !self.is_over(&tag, memo) {
                self.blocks.unclaim(id);
                kept = Some(self.push_shared(id, tag.epoch));
                continue;
            }
            if !parcel.is_empty() && (parcel.group != tag.group || parcel.credit != tag.credit) {
                freed += self.send_home(word, &parcel);
                (parcel.mask, parcel.resting) = (0, 0);
            }
            (parcel.group, parcel.credit) = (tag.group, tag.credit);
            if self.rests(id) {
                parcel.resting += 1;
            } else {
                parcel.mask |= 1 << bit;
            }
        }
        if !parcel.is_empty() {
            freed += self.send_home(word, &parcel);
        }
        (freed, kept)
    }

    /// A claimed block whose time is over: if it has a name that may outlive its holders, it is idle from now on. It had its
    /// place in the order since it retired.
    fn rests(&self, id: u32) -> bool {
        let word = self.blocks.word(id);
        let Some(name) = self.names_if(word, id) else { return false };
        // Whoever finds it idle owes nothing to who is paid for it now.
        self.blocks.set_credit(id, Credit::NONE);
        if self.may_rest(id) && self.blocks.rest(id) {
            self.counter(Counter::Idle).fetch_add(1, AcqRel);
            return true;
        }
        self.blocks.alone(id, Word::unname);
        self.forget_copy(word);
        self.forget_name(id, self.blocks.group(id), &name);
        false
    }

    /// Claimed blocks whose time is over: state, bit, words, in this order.
    fn send_home(&self, word: usize, parcel: &Parcel) -> u32 {
        if planted(Plant::BitBeforeState) {
            self.free.put_mask(word, parcel.mask);
        }
        for bit in Places(parcel.mask) {
            self.blocks.free(bit_at(word, bit));
        }
        point("reclaim: blocks are free");
        let count = if planted(Plant::BitBeforeState) {
            parcel.mask.count_ones()
        } else {
            (parcel.mask & !self.free.put_mask(word, parcel.mask)).count_ones()
        };
        point("reclaim: bits are back");
        self.settle(parcel.group, parcel.credit, count + parcel.resting);
        count + parcel.resting
    }

    /// `count` blocks that are free or idle leave A, for the account that they are credited to or for everybody.
    pub(super) fn settle(&self, group: Group, credit: Credit, count: u32) {
        if count == 0 {
            return;
        }
        if credit.is_none() {
            return self.uncharge(group, count, 0);
        }
        // I8: bit, then word, then balance.
        self.ledger.credit(count);
        point("settle: credited");
        if self.balance_of(credit).credit(credit.generation(), count) {
            self.returned();
        } else {
            // The account is closed: its credits only lower A.
            self.uncharge(group, 0, count);
        }
    }

    /// The balance of an account, a shared or an own one.
    pub(super) fn balance_of(&self, credit: Credit) -> Balance<'m> {
        if credit.is_own() {
            self.sequences.record(credit.slot()).balance()
        } else {
            self.accounts.balance(credit.slot())
        }
    }

    fn is_over(&self, tag: &Tag, memo: &mut Memo) -> bool {
        if tag.epoch != memo.epoch || tag.streams != memo.streams {
            let over = planted(Plant::IgnoreTag) || self.streams.is_over(tag.epoch, tag.streams);
            *memo = Memo { epoch: tag.epoch, streams: tag.streams, over };
        }
        memo.over
    }

    /// Why a charge is refused that `reclaim` could not help. `None`: an epoch ended meanwhile, try again.
    pub(super) fn refusal(
        &self,
        short_by: u32,
        scope: Scope,
        group: Option<Group>,
        asks: &impl Fn(u32) -> bool,
    ) -> Option<Refusal> {
        let counts = |tag: &Tag| scope == Scope::Pool || Some(tag.group) == group;
        let survey = self.survey(|id, tag| self.goes_to_everybody(tag) && counts(tag) && !asks(id));
        self.wait_for(&survey, short_by).unwrap_or(Some(Refusal::WouldBlock { short_by, scope }))
    }

    /// Why a debit of an account is refused, a shared or an own one. `None`: try again.
    pub(super) fn account_refusal(&self, credit: Credit, short_by: u32) -> Option<Refusal> {
        let survey = self.survey(|_, tag| tag.credit == credit);
        let over = Refusal::OverPromise { short_by: short_by.saturating_sub(survey.total()) };
        self.wait_for(&survey, short_by).unwrap_or(Some(over))
    }

    /// `Err`: the surveyed blocks are not enough. `Ok(None)`: the epoch to wait for is over by now.
    fn wait_for(&self, survey: &Survey, short_by: u32) -> Result<Option<Refusal>, ()> {
        let (after, reclaimable) = survey.enough(short_by).ok_or(())?;
        Ok((after > self.streams.frontier()).then_some(Refusal::RetryAfter { after, reclaimable }))
    }

    /// Whether a block that leaves A leaves room for everybody: it is credited to nobody, or to a closed account.
    pub(super) fn goes_to_everybody(&self, tag: &Tag) -> bool {
        let is_open =
            |credit: Credit| matches!(self.balance_of(credit).load(credit.generation()), balance::State::Open(_));
        tag.credit.is_none() || !is_open(tag.credit)
    }

    /// All retiring blocks that count, by epoch. Cost: O(words of retiring blocks).
    fn survey(&self, counts: impl Fn(u32, &Tag) -> bool) -> Survey {
        let mut survey = Survey::new();
        for bucket in 0..BUCKETS {
            let mut from = 0;
            while let Some((word, bits)) = self.retiring.next(bucket, from) {
                for bit in Places(bits) {
                    let id = bit_at(word, bit);
                    let tag = self.blocks.tag(id);
                    if counts(id, &tag) {
                        survey.add(tag.epoch);
                    }
                }
                from = word + 1;
            }
        }
        survey
    }
}
