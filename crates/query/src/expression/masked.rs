//! Values that not everybody may see.

use super::{Env, Expr, Fault};
use pikepole_types::{Mask, Value, without_values};

/// See [`Expr::Masked`].
#[derive(Debug, Clone)]
pub struct Masked {
    /// The value.
    pub input: Expr,
    /// What hides it; none where the value stays in the statement, and only errors tell of it.
    pub mask: Option<Mask>,
    /// The slots that say, each of a column, whether the session may see its values. One that says nothing hides them.
    pub seen: Box<[usize]>,
}

impl Masked {
    pub(super) fn eval(&self, env: &mut Env<'_>, out: &mut Value) -> Result<(), Fault> {
        let is_seen = self.seen.iter().all(|slot| env.slots[*slot] == Value::Bit(true));
        let evaluated = self.input.eval_into(env, out);
        if is_seen {
            return evaluated;
        }
        evaluated.map_err(|fault| Box::new(without_values(*fault)))?;
        if let Some(mask) = &self.mask {
            *out = mask.apply(out, env.functions);
        }
        Ok(())
    }
}
