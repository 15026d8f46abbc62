//! Errors of making machine code. Each means that the program stays with the interpreter.

/// The reason that there is no machine code of a program.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// The code generator does not know this machine.
    #[error("no machine code for this machine: {0}")]
    Machine(String),
    /// The description of slots contradicts itself.
    #[error("not a slot: {0}")]
    Shape(&'static str),
    /// The program has more instructions than can be numbered.
    #[error("{0} instructions are too many")]
    TooManyInstructions(usize),
    /// The slot is further from the first than an address can say.
    #[error("slot {0} is too far away")]
    Slot(usize),
    /// An instruction or a jump names an instruction that the program does not have.
    #[error("there is no instruction {0}")]
    Instruction(usize),
    /// An instruction was begun a second time.
    #[error("instruction {0} has code already")]
    Twice(usize),
    /// An operation came before the first instruction was begun.
    #[error("an operation belongs to no instruction")]
    Outside,
    /// An operand was made by another instruction or another builder.
    #[error("instruction {0} uses an operand that is not its own")]
    Operand(u32),
    /// An instruction that has changed something does what may leave to the interpreter.
    #[error("instruction {0} may fail after it changed something")]
    Order(u32),
    /// The code generator refused the program.
    #[error("the code generator: {0}")]
    Generator(String),
}
