//! The join of two results over different keys of the same queries.

use super::check::{self, Axis, Checked, Shape, token_shape};
use super::pointers::{See, Where, see};
use crate::raw::kvk_merge_two_params;

/// A launch of `merge_two`. The result may be one of the two.
#[derive(Clone, Copy, Debug)]
pub struct MergeTwo {
    /// What the kernel is given.
    pub params: kvk_merge_two_params,
}

impl MergeTwo {
    /// Whether the kernel can be given these.
    pub fn check(&self) -> Checked {
        let p = &self.params;
        check::wide_type("type", p.type_)?;
        check::head_dim("head_dim", p.head_dim)?;
        check::some("heads", p.heads)?;
        check::optional("lse", p.lse)?;
        if p.tokens == 0 {
            return Ok(());
        }
        check::counted("tokens", p.tokens.into(), p.heads.into(), u32::MAX.into())?;
        check::rows("output_a", p.output_a)?;
        check::rows("output_b", p.output_b)?;
        check::rows("output", p.output)?;
        check::needed("lse_a", p.lse_a)?;
        check::needed("lse_b", p.lse_b)?;
        self.output().check_apart()?;
        self.lse().check_apart()?;
        self.check_result()
    }

    /// The result is one of the two, or apart from both.
    fn check_result(&self) -> Checked {
        let p = &self.params;
        for (field, part) in [("output_a", p.output_a), ("output_b", p.output_b)] {
            if part != p.output.cast_const() {
                self.output().check_pair((field, part), ("output", p.output.cast_const()), 2)?;
            }
        }
        for (field, part) in [("lse_a", p.lse_a), ("lse_b", p.lse_b)] {
            if !p.lse.is_null() && part != p.lse.cast_const() {
                self.lse().check_pair((field, part), ("lse", p.lse.cast_const()), 4)?;
            }
        }
        Ok(())
    }

    pub(super) fn see(&mut self, look: &mut See<'_>) -> Checked {
        let (output, lse) = (self.output().extent().saturating_mul(2), self.lse().extent().saturating_mul(4));
        let p = &mut self.params;
        see(look, "output_a", Where::Device, output, &mut p.output_a)?;
        see(look, "lse_a", Where::Device, lse, &mut p.lse_a)?;
        see(look, "output_b", Where::Device, output, &mut p.output_b)?;
        see(look, "lse_b", Where::Device, lse, &mut p.lse_b)?;
        see(look, "output", Where::Device, output, &mut p.output)?;
        see(look, "lse", Where::Device, lse, &mut p.lse)
    }

    fn output(&self) -> Shape<2> {
        let p = &self.params;
        let strides = [p.token_stride, p.head_stride];
        token_shape(["token_stride", "head_stride"], [p.tokens, p.heads], strides, p.head_dim)
    }

    /// In floats.
    fn lse(&self) -> Shape<1> {
        let p = &self.params;
        let axis = Axis::new("lse_token_stride", p.tokens.into(), p.lse_token_stride);
        Shape { axes: [axis], row: p.heads.into(), multiple: 1 }
    }
}
