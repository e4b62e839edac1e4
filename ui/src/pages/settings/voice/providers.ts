// The providers of speech or transcription, as the gateway describes them.
import type { ProviderDetails, ProviderStatus } from '../../../client/generated/rpc';
import { keys } from '../../../client/keys';
import { rpc } from '../../../client/rpc';
import { m } from '../../../paraglide/messages.js';
import { textsOf } from '../../../phrases/texts';

export type Role = 'tts' | 'stt';
export type Provider = Omit<ProviderStatus, 'details'> & ProviderDetails;
export type Providers = readonly Provider[] | undefined;

/** Returns a provider with its texts in the language of the page. */
const described = (provider: Provider, text: (english: string) => string): Provider => ({
  ...provider,
  name: text(provider.name),
  about: text(provider.about),
  settings: provider.settings.map((setting) => ({
    ...setting,
    label: text(setting.label),
    hint: setting.hint ? text(setting.hint) : null,
  })),
});

/** All providers, including hidden ones. */
export const providersQuery = (role: Role) => ({
  queryKey: [...keys.voice, role, 'providers'],
  queryFn: async (): Promise<Provider[]> => {
    const details = { details: true };
    const [all, text] = await Promise.all([
      role === 'tts' ? rpc('tts.providers', details) : rpc('stt.providers', details),
      textsOf('voice'),
    ]);
    return all.flatMap(({ details, ...status }) => (details ? described({ ...status, ...details }, text) : []));
  },
});

export const shown = (providers: Providers): Provider[] => providers?.filter(({ hidden }) => !hidden) ?? [];

export const providerOf = (providers: Providers, id: string): Provider | undefined =>
  providers?.find((one) => one.id === id);

export const nameOf = (providers: Providers, id: string): string => providerOf(providers, id)?.name ?? id;

/** Returns the requirements that are missing before the provider can be used. */
export function missing({ needs, settings }: Provider): string {
  if (needs === 'api_key') return m.voice_missing_key();
  return m.voice_missing({ name: settings.find(({ name }) => name === needs)?.label ?? needs });
}
