// All providers and their models.
import { keys } from '../../../client/keys';
import { everyPage } from '../../../client/pages';
import { rpc, type Result } from '../../../client/rpc';

type Provider = Result<'providers.list'>['providers'][number];

/** Whether agents can use one of the providers. */
export const hasModel = (providers: readonly Pick<Provider, 'kind' | 'configured' | 'detected'>[]): boolean =>
  providers.some(({ kind, configured, detected }) => kind !== 'tts' && kind !== 'stt' && (configured || detected));

export const allProviders = {
  queryKey: [...keys.providers, 'all'],
  queryFn: async () => (await everyPage((at) => rpc('providers.list', at))).flatMap((page) => page.providers),
};

/** The gateway queries every provider, so the answer is cached for a minute. */
export const allModels = () => ({
  queryKey: [...keys.models, 'all'],
  queryFn: async () => (await everyPage((at) => rpc('models.list', at))).flatMap((page) => page.models),
  staleTime: 60_000,
});
