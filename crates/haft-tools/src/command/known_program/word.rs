//! The words and variables that are code whatever the program.

use super::row::{options, program, shell_line, wrapper};
use super::{KnownProgram, OperandRule};

/// A program that is not listed: what follows the word `exec` counts as code.
pub(super) static UNKNOWN: KnownProgram = KnownProgram { rest: "exec", ..options("", "") };

/// Words that are commands in a shell script, though not programs. Some shells evaluate the second row's operands as
/// arithmetic or names, in which `a[$(x)]` starts `x`.
pub(super) const SHELL_WORDS: &[KnownProgram] = &[
    wrapper("command builtin exec noglob nocorrect coproc", 0, "-a", "-c -l -p -v -V"),
    shell_line(
        "eval test [ let declare typeset local export readonly unset read getopts mapfile readarray alias trap exit return \
         shift break continue ulimit print hash bind complete compgen compadd jobs wait enable sched zmodload autoload zle emulate \
         integer float functions fc history set",
        0,
        "",
    ),
    program(". source", OperandRule::Script),
    options("printf", "-v"),
];

/// Last words in option names that mark the value as code, or as naming code, whatever the program.
pub(super) const CODE_WORDS: &str = "askpass cmd command commands editor entrypoint eval exec execute expr hook interpreter \
    launcher pager plugin plugins preload preprocessor program rcfile rsh script scripts shell wrapper";

/// Environment variables whose value is code, or names code that another program loads.
pub(super) const CODE_VARIABLES: &str = "BASH_ENV BROWSER CC CFLAGS CLASSPATH CXX ENV GCONV_PATH GIT_EXTERNAL_DIFF GIT_SSH \
    GIT_TEMPLATE_DIR JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS LD LDFLAGS LD_AUDIT LD_LIBRARY_PATH LD_PRELOAD \
    DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH LESSOPEN LESSCLOSE LUA_INIT MAKEFLAGS MAVEN_OPTS NODE_OPTIONS NODE_PATH PATH PERL5DB PERL5LIB \
    PERL5OPT PROMPT_COMMAND PS0 PS1 PS4 PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONINSPECT RUBYLIB RUBYOPT RUSTC_WRAPPER \
    VISUAL ZDOTDIR _JAVA_OPTIONS IFS";

/// Options with which a program prints something about itself, and runs no code.
pub(super) const INFORMATION: &str = "--version --help -version";
