import { describe, expect, it } from 'vitest';
import type { ModelInfo, Provider } from '../../client/generated/rpc';
import { chatting, complete, idFor, inOrder, isAddress } from './providers';

const provider = (id: string, more: Partial<Provider> = {}): Provider => ({
  id,
  kind: 'openai',
  base_url: 'http://x/v1',
  configured: false,
  detected: false,
  ...more,
});

describe('the providers of a first visit', () => {
  it('begin with what was found', () => {
    const found = provider('ollama', { configured: true, detected: true });
    const keyed = provider('zeta', { configured: true });
    const all = [provider('anthropic'), keyed, provider('voice', { kind: 'tts', configured: true }), found];
    expect(inOrder(all).map(({ id }) => id)).toEqual(['ollama', 'zeta', 'anthropic']);
  });

  it('are found by an address without what a browser puts before it', () => {
    expect(complete('127.0.0.1:8000/v1')).toBe('http://127.0.0.1:8000/v1');
    expect(complete('localhost:11434')).toBe('http://localhost:11434');
    expect(complete('openrouter.ai/api/v1')).toBe('https://openrouter.ai/api/v1');
    expect(complete('8x8.example')).toBe('https://8x8.example');
    for (const as_is of ['', 'http://x/v1', 'https://a.b', 'my server']) expect(complete(as_is)).toBe(as_is);
  });

  it('get an id from the address', () => {
    expect(idFor('http://127.0.0.1:11434/v1', [])).toBe('local');
    expect(idFor('http://[::1]:1/v1', [])).toBe('local');
    expect(idFor('https://openrouter.ai/api/v1', [])).toBe('openrouter');
    expect(idFor('https://api.groq.com/openai/v1', [])).toBe('groq');
    expect(idFor('http://gpu-box:8000', ['gpu-box', 'gpu-box-2'])).toBe('gpu-box-3');
    expect(idFor('not an address', [])).toBe('local');
  });

  it('have an address with http', () => {
    expect(isAddress('http://localhost:1234/v1')).toBe(true);
    expect(isAddress('localhost:1234')).toBe(false);
    expect(isAddress('http://')).toBe(false);
  });

  it('show the models that chat before the others', () => {
    const model = (name: string, of = 'openai'): ModelInfo => ({ id: `${of}/${name}`, provider: of, name });
    const all = [
      model('text-embedding-3'),
      model('gpt-4.1'),
      model('claude', 'anthropic'),
      model('whisper-1'),
      model('o4'),
    ];
    expect(chatting(all, 'openai').map(({ name }) => name)).toEqual(['gpt-4.1', 'o4', 'text-embedding-3', 'whisper-1']);
  });
});
