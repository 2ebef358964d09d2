//! Values of the flags of `kvledger plan`, and what is wrong with a bad one.

use crate::planning::{self, Amount};
use crate::trace::TOKENS_MAX;
use clap::ValueEnum;
use kvledger_core::plan::{Element, Grain, Region, Scales};
use std::str::FromStr;

/// `--region`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegionAmount {
    /// The region.
    pub region: Region,
    /// How much it may take.
    pub amount: Amount,
}

impl FromStr for RegionAmount {
    type Err = String;

    fn from_str(text: &str) -> Result<RegionAmount, String> {
        let names = || Region::ALL.map(planning::region_name).join(", ");
        let (name, amount) =
            text.split_once('=').ok_or_else(|| format!("give NAME=AMOUNT, NAME one of {}", names()))?;
        let region = planning::region_named(name)
            .ok_or_else(|| format!("there is no region `{name}`; give one of {}", names()))?;
        Ok(RegionAmount { region, amount: amount.parse()? })
    }
}

/// `--kv-type`, `--weights-type`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TypeName {
    /// What the config says
    Auto,
    /// 32 bits
    Fp32,
    /// 16 bits
    Fp16,
    /// 16 bits
    Bf16,
    /// 8 bits, 4 of them exponent
    Fp8,
    /// 8 bits, 5 of them exponent
    Fp8E5m2,
    /// 8 bits
    Int8,
    /// 4 bits
    Int4,
}

impl TypeName {
    /// `None`: as the config says.
    pub const fn element(self) -> Option<Element> {
        Some(match self {
            TypeName::Auto => return None,
            TypeName::Fp32 => Element::F32,
            TypeName::Fp16 => Element::F16,
            TypeName::Bf16 => Element::Bf16,
            TypeName::Fp8 => Element::E4m3,
            TypeName::Fp8E5m2 => Element::E5m2,
            TypeName::Int8 => Element::Int8,
            TypeName::Int4 => Element::Int4,
        })
    }
}

/// `--kv-scales`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScalesGiven(pub Scales);

impl FromStr for ScalesGiven {
    type Err = String;

    fn from_str(text: &str) -> Result<ScalesGiven, String> {
        if text == "none" {
            return Ok(ScalesGiven(Scales::NONE));
        }
        let want = "give none, or GRAIN:BYTES with token, token-head, block, block-head, block-channel or group-N, as in group-32:2";
        let (grain, bytes) = text.split_once(':').ok_or(want)?;
        let positive = |text: &str| text.parse().ok().filter(|&number: &u32| number > 0).ok_or(want);
        let (grain, group) = match grain {
            "token" => (Grain::Token, 0),
            "token-head" => (Grain::TokenHead, 0),
            "block" => (Grain::Block, 0),
            "block-head" => (Grain::BlockHead, 0),
            "block-channel" => (Grain::BlockChannel, 0),
            _ => (Grain::ElementGroup, positive(grain.strip_prefix("group-").ok_or(want)?)?),
        };
        Ok(ScalesGiven(Scales { grain, bytes: positive(bytes)?, group }))
    }
}

/// A count of tokens, as in traces.
pub fn tokens(text: &str) -> Result<u32, String> {
    let tokens = text.parse().ok().filter(|&tokens: &u64| tokens <= TOKENS_MAX);
    tokens.map(|tokens| tokens as u32).ok_or_else(|| format!("give a whole number from 0 to {TOKENS_MAX}"))
}
