//! `decimal` and `numeric`: exact numbers of up to 38 digits, with T-SQL's rules for precision and scale.
//!
//! A value is `mantissa / 10^scale` with `|mantissa| < 10^precision`. The type of a result follows from the types of its
//! operands alone; where the rules ask for more than 38 digits the scale gives way, down to 6. Multiplication and
//! division go through 256-bit intermediates, so nothing overflows before the result itself does. Products, sums and
//! conversions round half away from zero; quotients are cut off, as SQL Server's are.

use crate::error::SqlError;
use crate::sql_type::SqlType;
use std::cmp::Ordering;
use std::fmt;

/// The most digits a decimal can have.
pub const PRECISION_MAX: u8 = 38;

/// `POWERS[n]` is `10^n`.
const POWERS: [i128; 39] = {
    let mut powers = [1i128; 39];
    let mut n = 1;
    while n < 39 {
        powers[n] = powers[n - 1] * 10;
        n += 1;
    }
    powers
};

/// `10^n`, `n` at most 38.
#[inline]
pub(crate) const fn power_of_ten(n: u8) -> i128 {
    POWERS[n as usize]
}

/// A `decimal` value with its precision and scale.
#[derive(Clone, Copy)]
pub struct Decimal {
    // Two halves instead of an i128: that would align every Value to 16 bytes and make it 48 bytes long.
    high: i64,
    low: u64,
    precision: u8,
    scale: u8,
}

/// Precision and scale of a decimal type.
pub(crate) type Digits = (u8, u8);

impl Decimal {
    /// The value `mantissa / 10^scale`; `None` when the mantissa has more than `precision` digits, the precision is not
    /// 1 to 38, or the scale exceeds the precision.
    #[inline]
    pub fn new(mantissa: i128, precision: u8, scale: u8) -> Option<Decimal> {
        if !(1..=PRECISION_MAX).contains(&precision) || scale > precision {
            return None;
        }
        let fits = mantissa.unsigned_abs() < power_of_ten(precision) as u128;
        fits.then_some(Decimal { high: (mantissa >> 64) as i64, low: mantissa as u64, precision, scale })
    }

    /// A whole number, in the narrowest decimal type that holds it.
    pub fn from_i64(value: i64) -> Decimal {
        let mantissa = i128::from(value);
        Decimal { high: (mantissa >> 64) as i64, low: value as u64, precision: digits_of(mantissa), scale: 0 }
    }

    /// The number without its point.
    #[inline]
    pub fn mantissa(&self) -> i128 {
        i128::from(self.high) << 64 | i128::from(self.low)
    }

    /// Digits in all.
    #[inline]
    pub fn precision(&self) -> u8 {
        self.precision
    }

    /// Digits after the point.
    #[inline]
    pub fn scale(&self) -> u8 {
        self.scale
    }

    /// The decimal type of this value.
    pub fn sql_type(&self) -> SqlType {
        SqlType::Decimal { precision: self.precision, scale: self.scale }
    }

    /// A literal such as `12.50` or `10000000000`, in the type T-SQL gives it: as many digits as are written, leading
    /// zeros apart. `None` when it is not a plain number or has more than 38 digits.
    pub fn from_literal(text: &str) -> Option<Decimal> {
        let parsed = Parsed::read(text)?;
        if parsed.exponent_written || parsed.overflow {
            return None;
        }
        let scale = u8::try_from(parsed.scale).ok()?;
        let precision = digits_of(parsed.mantissa).max(scale).max(1);
        Decimal::new(parsed.mantissa, precision, scale)
    }

    /// Reads `[+-]digits[.digits]` and rounds it to a type.
    pub(crate) fn parse(text: &str, precision: u8, scale: u8) -> Result<Decimal, ParseDecimal> {
        let parsed = Parsed::read(text).ok_or(ParseDecimal::NotANumber)?;
        if parsed.exponent_written {
            return Err(ParseDecimal::NotANumber);
        }
        if parsed.overflow {
            return Err(ParseDecimal::Overflow);
        }
        let mantissa = if parsed.scale >= i32::from(scale) {
            divide_rounded_by_power(parsed.mantissa, (parsed.scale - i32::from(scale)) as u32)
        } else {
            let up = (i32::from(scale) - parsed.scale) as u8;
            parsed.mantissa.checked_mul(power_of_ten(up)).ok_or(ParseDecimal::Overflow)?
        };
        Decimal::new(mantissa, precision, scale).ok_or(ParseDecimal::Overflow)
    }

    /// The value in another precision and scale, rounded half away from zero; `None` on overflow.
    #[inline]
    pub fn rescale(&self, precision: u8, scale: u8) -> Option<Decimal> {
        Decimal::new(self.mantissa_at(scale)?, precision, scale)
    }

    /// The mantissa the value has at another scale, rounded half away from zero; `None` past 128 bits.
    #[inline]
    pub(crate) fn mantissa_at(&self, scale: u8) -> Option<i128> {
        let mantissa = self.mantissa();
        match scale.cmp(&self.scale) {
            Ordering::Equal => Some(mantissa),
            Ordering::Greater => mantissa.checked_mul(power_of_ten(scale - self.scale)),
            Ordering::Less => Some(divide_rounded(mantissa, power_of_ten(self.scale - scale))),
        }
    }

    /// The whole part, cut off towards zero: what a conversion to an integer type takes.
    pub fn truncate(&self) -> i128 {
        self.mantissa() / power_of_ten(self.scale)
    }

    /// The nearest `float`.
    pub fn to_f64(&self) -> f64 {
        let mantissa = self.mantissa();
        // Both exact: one correctly rounded division. Otherwise the text parser rounds correctly.
        if mantissa.unsigned_abs() <= 1 << 53 && self.scale <= 22 {
            return mantissa as f64 / POWERS[usize::from(self.scale)] as f64;
        }
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// A `float` in a decimal type, rounded half away from zero; `None` when it does not fit or is not finite.
    pub fn from_f64(value: f64, precision: u8, scale: u8) -> Option<Decimal> {
        if !value.is_finite() || value.abs() >= 1e38 {
            return None;
        }
        // A float carries about 17 digits; the shortest text that reads back as it is what a user means by it.
        let text = format!("{value}");
        let parsed = Parsed::read(&text)?;
        if parsed.overflow {
            return None;
        }
        let mantissa = if parsed.scale >= i32::from(scale) {
            divide_rounded_by_power(parsed.mantissa, (parsed.scale - i32::from(scale)) as u32)
        } else {
            parsed.mantissa.checked_mul(power_of_ten((i32::from(scale) - parsed.scale) as u8))?
        };
        Decimal::new(mantissa, precision, scale)
    }

    /// The value negated.
    #[must_use]
    pub fn negate(&self) -> Decimal {
        let mantissa = -self.mantissa();
        Decimal { high: (mantissa >> 64) as i64, low: mantissa as u64, ..*self }
    }

    /// Rounds, or cuts off, at `places` digits after the point (before it when negative). The type stays; `None` when a
    /// carry does not fit into it.
    pub(crate) fn round_at(&self, places: i32, cut: bool) -> Option<Decimal> {
        let drop = i32::from(self.scale) - places;
        if drop <= 0 {
            return Some(*self);
        }
        if drop > i32::from(PRECISION_MAX) {
            return Decimal::new(0, self.precision, self.scale);
        }
        let unit = power_of_ten(drop as u8);
        let mantissa = self.mantissa();
        let units = if cut { mantissa / unit } else { divide_rounded(mantissa, unit) };
        Decimal::new(units.checked_mul(unit)?, self.precision, self.scale)
    }

    /// Sum, in the type of [`add_type`].
    pub fn add(&self, other: &Decimal) -> Result<Decimal, SqlError> {
        let (precision, scale) = add_type(self.digits(), other.digits());
        self.add_at(other.mantissa(), other.scale, precision, scale)
    }

    /// Difference, in the type of [`add_type`].
    pub fn subtract(&self, other: &Decimal) -> Result<Decimal, SqlError> {
        let (precision, scale) = add_type(self.digits(), other.digits());
        self.add_at(-other.mantissa(), other.scale, precision, scale)
    }

    fn add_at(&self, other: i128, other_scale: u8, precision: u8, scale: u8) -> Result<Decimal, SqlError> {
        let common = self.scale.max(other_scale);
        let exact = self
            .mantissa()
            .checked_mul(power_of_ten(common - self.scale))
            .zip(other.checked_mul(power_of_ten(common - other_scale)))
            .and_then(|(a, b)| a.checked_add(b));
        let mantissa = match exact {
            Some(sum) => divide_rounded(sum, power_of_ten(common - scale)),
            // Too long at the finer scale: the type gives way to the coarser one, and so do the operands.
            None => {
                let b = Decimal { high: (other >> 64) as i64, low: other as u64, precision: 38, scale: other_scale };
                let parts = self.mantissa_at(scale).zip(b.mantissa_at(scale));
                parts.and_then(|(a, b)| a.checked_add(b)).ok_or_else(overflow)?
            }
        };
        Decimal::new(mantissa, precision, scale).ok_or_else(overflow)
    }

    /// Product, in the type of [`multiply_type`].
    pub fn multiply(&self, other: &Decimal) -> Result<Decimal, SqlError> {
        let (precision, scale) = multiply_type(self.digits(), other.digits());
        let drop = self.scale + other.scale - scale;
        let (a, b) = (self.mantissa(), other.mantissa());
        let mantissa = match a.checked_mul(b) {
            Some(product) => divide_rounded_by_power(product, u32::from(drop)),
            None => {
                let wide = Wide::product(a.unsigned_abs(), b.unsigned_abs());
                let magnitude = wide.divide_rounded(drop).ok_or_else(overflow)?;
                with_sign(magnitude, (a < 0) != (b < 0)).ok_or_else(overflow)?
            }
        };
        Decimal::new(mantissa, precision, scale).ok_or_else(overflow)
    }

    /// Quotient, in the type of [`divide_type`], cut off after its last digit.
    ///
    /// # Errors
    /// 8134 when `other` is zero, 8115 on overflow.
    pub fn divide(&self, other: &Decimal) -> Result<Decimal, SqlError> {
        let (precision, scale) = divide_type(self.digits(), other.digits());
        let (a, b) = (self.mantissa(), other.mantissa());
        if b == 0 {
            return Err(SqlError::divide_by_zero());
        }
        // scale >= self.scale - other.scale always holds where the scale did not give way; where it did, it may not.
        let shift = i32::from(scale) + i32::from(other.scale) - i32::from(self.scale);
        let magnitude = if shift < 0 {
            Some(a.unsigned_abs() / b.unsigned_abs() / power_of_ten((-shift) as u8) as u128)
        } else {
            quotient(a.unsigned_abs(), b.unsigned_abs(), shift as u32)
        };
        let mantissa = magnitude.and_then(|m| with_sign(m, (a < 0) != (b < 0))).ok_or_else(overflow)?;
        Decimal::new(mantissa, precision, scale).ok_or_else(overflow)
    }

    /// Remainder with the sign of the dividend, in the type of [`remainder_type`].
    ///
    /// # Errors
    /// 8134 when `other` is zero, 8115 on overflow.
    pub fn remainder(&self, other: &Decimal) -> Result<Decimal, SqlError> {
        let (precision, scale) = remainder_type(self.digits(), other.digits());
        let a = self.mantissa_at(scale).ok_or_else(overflow)?;
        let b = other.mantissa_at(scale).ok_or_else(overflow)?;
        if b == 0 {
            return Err(SqlError::divide_by_zero());
        }
        Decimal::new(a % b, precision, scale).ok_or_else(overflow)
    }

    fn digits(&self) -> Digits {
        (self.precision, self.scale)
    }
}

/// Why a text is no decimal of the asked type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParseDecimal {
    NotANumber,
    Overflow,
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    /// By value: `1.0` and `1.00` are equal.
    #[inline]
    fn cmp(&self, other: &Decimal) -> Ordering {
        let (a, b) = (self.mantissa(), other.mantissa());
        if self.scale == other.scale {
            return a.cmp(&b);
        }
        let (up_a, up_b) = (other.scale.saturating_sub(self.scale), self.scale.saturating_sub(other.scale));
        match (a.checked_mul(power_of_ten(up_a)), b.checked_mul(power_of_ten(up_b))) {
            (Some(a), Some(b)) => a.cmp(&b),
            // Only the side that is scaled up can overflow, and then it is the larger in magnitude.
            (None, _) => a.cmp(&0),
            (_, None) => 0.cmp(&b),
        }
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}({},{})", self.precision, self.scale)
    }
}

impl fmt::Display for Decimal {
    /// All digits of the scale: `12.50`, `-0.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mantissa = self.mantissa();
        let sign = if mantissa < 0 { "-" } else { "" };
        let unit = power_of_ten(self.scale) as u128;
        let (whole, fraction) = (mantissa.unsigned_abs() / unit, mantissa.unsigned_abs() % unit);
        match self.scale {
            0 => write!(f, "{sign}{whole}"),
            scale => write!(f, "{sign}{whole}.{fraction:0width$}", width = usize::from(scale)),
        }
    }
}

#[cold]
fn overflow() -> SqlError {
    SqlError::arithmetic_overflow("expression", "numeric")
}

fn with_sign(magnitude: u128, negative: bool) -> Option<i128> {
    let value = i128::try_from(magnitude).ok()?;
    Some(if negative { -value } else { value })
}

/// Decimal digits of a number, at least 1.
pub(crate) fn digits_of(mantissa: i128) -> u8 {
    let magnitude = mantissa.unsigned_abs();
    if magnitude == 0 { 1 } else { magnitude.ilog10() as u8 + 1 }
}

/// `value / divisor`, rounded half away from zero; `divisor` is positive.
#[inline]
pub(crate) fn divide_rounded(value: i128, divisor: i128) -> i128 {
    if divisor == 1 {
        return value;
    }
    let (quotient, remainder) = (value / divisor, value % divisor);
    if remainder.unsigned_abs() * 2 >= divisor as u128 { quotient + value.signum() } else { quotient }
}

/// `value / 10^power`, rounded half away from zero, for any power.
fn divide_rounded_by_power(value: i128, power: u32) -> i128 {
    if power == 0 {
        return value;
    }
    if power > 38 {
        // |value| < 1.8 * 10^38, so a quotient by 10^39 and more is below one half.
        return 0;
    }
    divide_rounded(value, power_of_ten(power as u8))
}

/// `a * 10^shift / b`, cut off; `None` past 128 bits.
fn quotient(a: u128, b: u128, mut shift: u32) -> Option<u128> {
    if shift <= 38
        && let Some(scaled) = a.checked_mul(power_of_ten(shift as u8) as u128)
    {
        return Some(scaled / b);
    }
    let (mut result, mut remainder) = (a / b, a % b);
    while shift > 0 {
        let step = shift.min(37);
        let power = power_of_ten(step as u8) as u128;
        let (digits, rest) = Wide::product(remainder, power).divide(b)?;
        result = result.checked_mul(power)?.checked_add(digits)?;
        remainder = rest;
        shift -= step;
    }
    Some(result)
}

/// A 256-bit intermediate.
struct Wide {
    high: u128,
    low: u128,
}

impl Wide {
    fn product(a: u128, b: u128) -> Wide {
        const HALF: u128 = u64::MAX as u128;
        let (a_high, a_low, b_high, b_low) = (a >> 64, a & HALF, b >> 64, b & HALF);
        let low = a_low * b_low;
        let (cross_a, cross_b) = (a_high * b_low, a_low * b_high);
        let middle = (low >> 64) + (cross_a & HALF) + (cross_b & HALF);
        Wide {
            high: a_high * b_high + (cross_a >> 64) + (cross_b >> 64) + (middle >> 64),
            low: middle << 64 | low & HALF,
        }
    }

    /// Quotient and remainder; `None` when the quotient exceeds 128 bits. Bit by bit: only results of more than 38
    /// intermediate digits come here.
    fn divide(&self, divisor: u128) -> Option<(u128, u128)> {
        // Mantissas and powers of ten: so a remainder, doubled, stays within 128 bits.
        assert!(divisor < 1 << 127, "a divisor has 38 digits at most");
        if self.high >= divisor {
            return None;
        }
        let (mut quotient, mut remainder) = (0u128, self.high);
        for bit in (0..128).rev() {
            remainder = remainder << 1 | (self.low >> bit & 1);
            quotient <<= 1;
            if remainder >= divisor {
                remainder -= divisor;
                quotient |= 1;
            }
        }
        Some((quotient, remainder))
    }

    /// The quotient by `10^power`, rounded half up; `None` past 128 bits.
    fn divide_rounded(&self, power: u8) -> Option<u128> {
        if power > PRECISION_MAX {
            // Two steps: cut off what is certainly below the rounding digit, then round.
            let first = power - PRECISION_MAX;
            let (low, _) = Wide { high: self.high % POWERS[usize::from(first)] as u128, low: self.low }
                .divide(POWERS[usize::from(first)] as u128)?;
            let high = self.high / POWERS[usize::from(first)] as u128;
            return Wide { high, low }.divide_rounded(PRECISION_MAX);
        }
        let divisor = power_of_ten(power) as u128;
        let (quotient, remainder) = self.divide(divisor)?;
        if remainder * 2 >= divisor { quotient.checked_add(1) } else { Some(quotient) }
    }
}

/// A number read from text: `mantissa / 10^scale`.
struct Parsed {
    mantissa: i128,
    scale: i32,
    exponent_written: bool,
    overflow: bool,
}

impl Parsed {
    /// `[+-]digits[.digits][e[+-]digits]`; at least one digit. Digits past the 38th after the point are dropped.
    fn read(text: &str) -> Option<Parsed> {
        let bytes = text.as_bytes();
        let (negative, digits) = match bytes.first()? {
            b'-' => (true, &bytes[1..]),
            b'+' => (false, &bytes[1..]),
            _ => (false, bytes),
        };
        let mut parsed = Parsed { mantissa: 0, scale: 0, exponent_written: false, overflow: false };
        let (mut seen, mut after_point) = (false, false);
        for (at, &byte) in digits.iter().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    seen = true;
                    parsed.push(byte - b'0', after_point);
                }
                b'.' if !after_point => after_point = true,
                b'e' | b'E' if seen => {
                    let exponent: i32 = std::str::from_utf8(&digits[at + 1..]).ok()?.parse().ok()?;
                    parsed.exponent_written = true;
                    parsed.scale = parsed.scale.checked_sub(exponent)?;
                    break;
                }
                _ => return None,
            }
        }
        if negative {
            parsed.mantissa = -parsed.mantissa;
        }
        seen.then_some(parsed)
    }

    fn push(&mut self, digit: u8, after_point: bool) {
        if after_point && self.scale >= 38 {
            return;
        }
        match self.mantissa.checked_mul(10).and_then(|m| m.checked_add(i128::from(digit))) {
            Some(mantissa) => {
                self.mantissa = mantissa;
                self.scale += i32::from(after_point);
            }
            // Past the 38th digit: an overflow before the point, unseen precision after it.
            None => self.overflow |= !after_point,
        }
    }
}

/// The type of a sum or difference.
pub fn add_type((p1, s1): (u8, u8), (p2, s2): (u8, u8)) -> (u8, u8) {
    let scale = s1.max(s2);
    let whole = (p1 - s1).max(p2 - s2);
    let precision = scale + whole + 1;
    if precision > PRECISION_MAX {
        return (PRECISION_MAX, scale.min(PRECISION_MAX - whole));
    }
    (precision, scale)
}

/// The type of a product.
pub fn multiply_type((p1, s1): (u8, u8), (p2, s2): (u8, u8)) -> (u8, u8) {
    limited(p1 + p2 + 1, s1 + s2)
}

/// The type of a quotient.
pub fn divide_type((p1, s1): (u8, u8), (p2, s2): (u8, u8)) -> (u8, u8) {
    let scale = 6.max(s1 + p2 + 1);
    limited(p1 - s1 + s2 + scale, scale)
}

/// The type of a remainder.
pub fn remainder_type((p1, s1): (u8, u8), (p2, s2): (u8, u8)) -> (u8, u8) {
    let scale = s1.max(s2);
    (((p1 - s1).min(p2 - s2) + scale).max(1), scale)
}

/// The type that holds the values of both, for comparison, CASE and UNION.
pub(crate) fn union_type((p1, s1): Digits, (p2, s2): Digits) -> SqlType {
    let scale = s1.max(s2);
    let whole = (p1 - s1).max(p2 - s2);
    if scale + whole > PRECISION_MAX {
        return SqlType::Decimal { precision: PRECISION_MAX, scale: scale.min(PRECISION_MAX - whole) };
    }
    SqlType::Decimal { precision: scale + whole, scale }
}

/// Products and quotients of more than 38 digits: the whole part keeps its places, the scale keeps at least 6.
fn limited(precision: u8, scale: u8) -> (u8, u8) {
    if precision <= PRECISION_MAX {
        return (precision, scale);
    }
    let whole = precision - scale;
    let room = PRECISION_MAX.saturating_sub(whole);
    (PRECISION_MAX, scale.min(room.max(scale.min(6))))
}

#[cfg(test)]
#[path = "decimal_tests.rs"]
mod tests;
