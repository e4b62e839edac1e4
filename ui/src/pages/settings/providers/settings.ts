// The `models` settings: default model and providers, with the origin of each value.
import type { Setting } from '../../../client/generated/rpc';
import { keys } from '../../../client/keys';
import { rpc } from '../../../client/rpc';

/** The query for these settings, by key. */
export const modelSettings = () => ({
  queryKey: [...keys.config, 'models'],
  queryFn: async (): Promise<Map<string, Setting>> => {
    const { values } = await rpc('config.get', { keys: ['models'] });
    return new Map(values.map((setting) => [setting.key, setting]));
  },
});
