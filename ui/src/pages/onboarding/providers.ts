// Which model providers onboarding offers, and IDs for custom servers.
import type { ModelInfo, Provider } from '../../client/generated/rpc';
import { isModelProvider } from '../settings/providers/names';

/** Sorts providers: detected and ready first, then configured, then those that need a key. */
export function inOrder(providers: readonly Provider[]): Provider[] {
  const rank = ({ detected, configured }: Provider) => (configured ? (detected ? 0 : 1) : 2);
  return providers.filter(isModelProvider).toSorted((a, b) => rank(a) - rank(b) || a.id.localeCompare(b.id));
}

/**
 * Returns an ID for a server's URL: `openrouter` for openrouter.ai, `local` for IP addresses and
 * localhost.
 */
export function idFor(address: string, taken: readonly string[]): string {
  const base = nameIn(address);
  if (!taken.includes(base)) return base;
  for (let at = 2; ; at++) if (!taken.includes(`${base}-${at}`)) return `${base}-${at}`;
}

function nameIn(address: string): string {
  const host = hostOf(address);
  if (!host || host === 'localhost' || /^[\d.]+$/.test(host) || host.startsWith('[')) return 'local';
  const labels = host.split('.').filter((label) => label !== 'www' && label !== 'api');
  const name = (labels.length > 1 ? labels.at(-2) : labels[0]) ?? '';
  return name.replace(/[^a-z0-9-]/g, '') || 'local';
}

function hostOf(address: string): string | null {
  try {
    return new URL(address).hostname;
  } catch {
    return null;
  }
}

/** Adds the scheme to a URL without one: http for localhost and IPv4 addresses, otherwise https. */
export function complete(text: string): string {
  if (!/^(localhost|[\w-]+(\.[\w-]+)+)(:\d+)?(\/|$)/.test(text)) return text;
  return (/^(localhost|[\d.]+)(:|\/|$)/.test(text) ? 'http://' : 'https://') + text;
}

export const isAddress = (text: string): boolean => /^https?:\/\//.test(text) && hostOf(text) !== null;

const OTHER_TRADES =
  /embed|whisper|tts|dall-e|moderation|rerank|transcri|realtime|image|audio|sora|davinci|babbage|guard/i;

/** A provider's models, chat models first. */
export function chatting(models: readonly ModelInfo[], provider: string): ModelInfo[] {
  const own = models.filter((model) => model.provider === provider);
  return [...own.filter(({ name }) => !OTHER_TRADES.test(name)), ...own.filter(({ name }) => OTHER_TRADES.test(name))];
}
