// The settings of models: which model is the default, where providers are, and where each value comes from.
import type { Setting } from '../../../client/generated/rpc';
import { keys } from '../../../client/keys';
import { rpc, type Params } from '../../../client/rpc';

/** The query for them, by key. */
export const modelSettings = () => ({
  queryKey: [...keys.config, 'models'],
  queryFn: async (): Promise<Map<string, Setting>> => {
    const { values } = await rpc('config.get', { keys: ['models'] });
    return new Map(values.map((setting) => [setting.key, setting]));
  },
});

/** Whether nobody can change it here: the environment or the command line of the server says what it is. */
export const isFixed = (setting: Setting | undefined): boolean =>
  setting?.origin === 'environment' || setting?.origin === 'command_line';

/** Changes a setting; null takes the change back. */
export const change = (key: string, value: unknown) =>
  rpc('config.set', { key, value: value as Params<'config.set'>['value'] });
