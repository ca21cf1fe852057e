//! OpenAI's Chat Completions API, which Ollama, vLLM, llama.cpp, `OpenRouter`, Mistral and others speak too.

mod tool;

pub(crate) use self::tool::ChatToolForm;
