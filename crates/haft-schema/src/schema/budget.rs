//! The budget of work and memory for one check.

/// The work and memory left for one check. Once exhausted, it stays exhausted.
#[derive(Debug)]
pub(crate) struct WorkBudget {
    work: u64,
    memory: u64,
    /// The pattern steps left at the reduced price.
    cheap_steps: u64,
    is_spent: bool,
}

/// The error for an exhausted budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BudgetSpent;

impl WorkBudget {
    const WORK: u64 = 100_000;
    const WORK_PER_BYTE: u64 = 16;
    /// The steps of patterns that one unit of work pays for, as long as there are cheap ones.
    pub(crate) const STEPS_PER_UNIT: u64 = 128;
    /// The pattern steps of one check at the reduced price. A step takes a few nanoseconds: patterns that go through a
    /// short text many times are acceptable, those that do so with a long text are not.
    pub(crate) const CHEAP_STEPS: u64 = 8_000_000;
    const MEMORY: u64 = 1 << 20;
    const MEMORY_PER_BYTE: u64 = 16;
    /// The memory of a compiled schema per byte: `{"not":…}` has eight bytes, and is a node with its rules.
    const MEMORY_PER_BYTE_OF_SCHEMA: u64 = 64;

    /// Creates the budget for an input of this many bytes.
    pub(crate) fn for_input(bytes: usize) -> Self {
        let bytes = bytes as u64;
        Self {
            work: Self::WORK.saturating_add(bytes.saturating_mul(Self::WORK_PER_BYTE)),
            memory: Self::MEMORY.saturating_add(bytes.saturating_mul(Self::MEMORY_PER_BYTE)),
            cheap_steps: Self::CHEAP_STEPS,
            is_spent: false,
        }
    }

    /// Creates the budget for compiling a schema of this many bytes.
    pub(crate) fn for_schema(bytes: usize) -> Self {
        let memory = (bytes as u64).saturating_mul(Self::MEMORY_PER_BYTE_OF_SCHEMA);
        Self { memory: Self::MEMORY.saturating_add(memory), ..Self::for_input(bytes) }
    }

    /// Increases the budget for this many more bytes of input.
    #[inline]
    pub(crate) fn extend(&mut self, bytes: usize) {
        let bytes = bytes as u64;
        self.work = self.work.saturating_add(bytes.saturating_mul(Self::WORK_PER_BYTE));
        self.memory = self.memory.saturating_add(bytes.saturating_mul(Self::MEMORY_PER_BYTE));
    }

    /// Spends units of work.
    #[inline]
    pub(crate) fn work(&mut self, units: u64) -> Result<(), BudgetSpent> {
        match self.work.checked_sub(units) {
            Some(left) if !self.is_spent => {
                self.work = left;
                Ok(())
            }
            _ => {
                self.is_spent = true;
                Err(BudgetSpent)
            }
        }
    }

    /// Spends the work of elementary pattern steps: at the reduced price first, then one unit each.
    pub(crate) fn steps(&mut self, steps: u64) -> Result<(), BudgetSpent> {
        let cheap = steps.min(self.cheap_steps);
        self.cheap_steps -= cheap;
        self.work(cheap.div_ceil(Self::STEPS_PER_UNIT) + (steps - cheap))
    }

    /// Takes bytes of memory, permanently or until they are [released](Self::release).
    pub(crate) fn memory(&mut self, bytes: usize) -> Result<(), BudgetSpent> {
        match self.memory.checked_sub(bytes as u64) {
            Some(left) if !self.is_spent => {
                self.memory = left;
                Ok(())
            }
            _ => {
                self.is_spent = true;
                Err(BudgetSpent)
            }
        }
    }

    /// Returns bytes of memory that were taken temporarily.
    pub(crate) fn release(&mut self, bytes: usize) {
        self.memory = self.memory.saturating_add(bytes as u64);
    }

    /// Exhausts the budget.
    pub(crate) fn exhaust(&mut self) {
        self.is_spent = true;
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.is_spent
    }
}
