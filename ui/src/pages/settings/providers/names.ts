// What is known of model providers: what they are called, which they are, and where they give out keys.
import type { Provider } from '../../../client/generated/rpc';

const NAMES: Record<string, string> = { openai: 'OpenAI', anthropic: 'Anthropic', ollama: 'Ollama' };
export const isKnown = (id: string): boolean => id in NAMES;

/** How people call a provider. */
export const nameOf = (id: string): string => NAMES[id] ?? id;

/** Those that speak or listen are no model providers. */
export const isModelProvider = ({ kind }: Provider): boolean => kind === 'openai' || kind === 'anthropic';

/** Where a vendor gives out keys, behind `https://`. */
export const KEY_PAGES: Record<string, string> = {
  openai: 'platform.openai.com/api-keys',
  anthropic: 'console.anthropic.com/settings/keys',
};

/** A key is there, but was entered for another address or another kind of provider. */
export const isKeyMoved = (provider: Pick<Provider, 'configured' | 'detected' | 'key_hint'>): boolean =>
  !provider.configured && (provider.detected || Boolean(provider.key_hint));
