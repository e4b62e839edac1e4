// Names of model providers and where to get their keys.
import type { Provider } from '../../../client/generated/rpc';

const NAMES: Record<string, string> = { openai: 'OpenAI', anthropic: 'Anthropic', ollama: 'Ollama' };
export const isKnown = (id: string): boolean => id in NAMES;

/** The display name of a provider. */
export const nameOf = (id: string): string => NAMES[id] ?? id;

/** Whether the provider serves chat models rather than speech or transcription. */
export const isModelProvider = ({ kind }: Provider): boolean => kind === 'openai' || kind === 'anthropic';

/** Pages where vendors issue API keys, without `https://`. */
export const KEY_PAGES: Record<string, string> = {
  openai: 'platform.openai.com/api-keys',
  anthropic: 'console.anthropic.com/settings/keys',
};

/** Whether a key is stored, but for another URL or type of provider. */
export const isKeyMoved = (provider: Pick<Provider, 'configured' | 'detected' | 'key_hint' | 'key_for'>): boolean =>
  !provider.configured && (provider.detected || Boolean(provider.key_hint) || Boolean(provider.key_for));
