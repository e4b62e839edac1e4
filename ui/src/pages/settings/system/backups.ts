// The query for all backups.
import { keys } from '../../../client/keys';
import { everyPage } from '../../../client/pages';
import { rpc } from '../../../client/rpc';

export const backupsQuery = {
  queryKey: keys.backups,
  queryFn: async () => (await everyPage((at) => rpc('backup.list', at))).flatMap((page) => page.backups),
};
