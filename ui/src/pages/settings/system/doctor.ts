// The health checks of the gateway.
import { keys } from '../../../client/keys';
import { rpc } from '../../../client/rpc';

export const doctorQuery = {
  queryKey: [...keys.system, 'doctor'],
  queryFn: () => rpc('system.doctor'),
};
