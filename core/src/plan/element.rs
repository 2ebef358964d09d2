//! How one number of the cache is stored, and the scales that a quantized cache needs beside its numbers.

/// The type of one stored element.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Element {
    /// IEEE single, 32 bits.
    F32 = 0,
    /// IEEE half, 16 bits.
    F16 = 1,
    /// bfloat16, 16 bits.
    Bf16 = 2,
    /// fp8 with 4 bits of exponent and 3 of mantissa.
    E4m3 = 3,
    /// fp8 with 5 bits of exponent and 2 of mantissa.
    E5m2 = 4,
    /// 8-bit integer.
    Int8 = 5,
    /// 4-bit integer, two in a byte. A head's vector starts at a byte: an odd dimension wastes half of one.
    Int4 = 6,
}

impl Element {
    /// Bits of one element.
    pub const fn bits(self) -> u32 {
        match self {
            Element::F32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::E4m3 | Element::E5m2 | Element::Int8 => 8,
            Element::Int4 => 4,
        }
    }

    /// The element of this number (the C ABI passes numbers); `None` if there is none.
    pub const fn from_number(number: u32) -> Option<Element> {
        Some(match number {
            0 => Element::F32,
            1 => Element::F16,
            2 => Element::Bf16,
            3 => Element::E4m3,
            4 => Element::E5m2,
            5 => Element::Int8,
            6 => Element::Int4,
            _ => return None,
        })
    }
}

/// What one scale is shared by. K and V never share one.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Grain {
    /// No scales beside the elements (a scale for the whole tensor lives with the weights).
    None = 0,
    /// One for each token of a layer.
    Token = 1,
    /// One for each token and head of a layer.
    TokenHead = 2,
    /// One for each `group` neighbouring elements of a head's vector; a last, shorter group has one too.
    ElementGroup = 3,
    /// One for each block of a layer.
    Block = 4,
    /// One for each block and head of a layer.
    BlockHead = 5,
    /// One for each block and channel (head and dimension) of a layer.
    BlockChannel = 6,
}

impl Grain {
    /// The grain of this number (the C ABI passes numbers); `None` if there is none.
    pub const fn from_number(number: u32) -> Option<Grain> {
        Some(match number {
            0 => Grain::None,
            1 => Grain::Token,
            2 => Grain::TokenHead,
            3 => Grain::ElementGroup,
            4 => Grain::Block,
            5 => Grain::BlockHead,
            6 => Grain::BlockChannel,
            _ => return None,
        })
    }
}

/// The scales of a quantized cache. They live inside the block whose elements they scale, so that copying a block
/// copies them.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scales {
    /// What one scale is shared by.
    pub grain: Grain,
    /// Bytes of one scale, its zero point included if there is one. 0 exactly when there are no scales.
    pub bytes: u32,
    /// Elements a group with [`Grain::ElementGroup`], else 0.
    pub group: u32,
}

impl Scales {
    /// No scales: what unquantized elements have.
    pub const NONE: Scales = Scales { grain: Grain::None, bytes: 0, group: 0 };
}
