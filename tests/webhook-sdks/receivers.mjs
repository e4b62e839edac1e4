// The vendors' own receivers of webhooks. Those that are functions of a delivery return the response to it:
// { status, type, body }.
import { createServer } from 'node:http';
import bolt from '@slack/bolt';
import { EventSubMiddleware } from '@twurple/eventsub-http';
import { AwsLambdaReceiver } from '@zoom/rivet/meetings';
import { verifyKeyMiddleware } from 'discord-interactions';
import { WhatsAppAPI } from 'whatsapp-api-js';

// Some libraries log to standard output, which is for the answers.
console.debug = () => {};

// Sends the delivery over HTTP to a handler for Node's server.
const post = async ({ headers, body }, handler) => {
  const server = createServer(handler);
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${server.address().port}/`;
    const response = await fetch(url, { method: 'POST', headers, body });
    return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
  } finally {
    server.close();
    server.closeAllConnections();
  }
};

const lambda = ({ statusCode, headers, body }) => ({ status: statusCode, type: headers?.['Content-Type'], body });

export const whatsapp = (appSecret, webhookVerifyToken) =>
  new WhatsAppAPI({ token: 'unused', appSecret, webhookVerifyToken, v: 'v24.0' });

export const zoom = async ({ secret, headers, body }) => {
  const receiver = new AwsLambdaReceiver({ webhooksSecretToken: secret });
  receiver.init({ eventEmitter: { emit: async () => {} } });
  return lambda(await receiver.start()({ headers, body, isBase64Encoded: false }, {}));
};

export const slack = async ({ secret, headers, body }) => {
  const receiver = new bolt.AwsLambdaReceiver({ signingSecret: secret, logLevel: bolt.LogLevel.ERROR });
  return lambda(await receiver.toHandler()({ headers, body, isBase64Encoded: false }, {}, () => {}));
};

export const discord = ({ secret, headers, body }) =>
  post({ headers, body }, (request, response) => {
    request.header = name => request.headers[name.toLowerCase()];
    verifyKeyMiddleware(secret)(request, response, () => response.end());
  });

export const twitch = async ({ secret, headers, body }) => {
  const listener = new EventSubMiddleware({
    apiClient: { _authProvider: {}, eventSub: {} }, hostName: 'unused.example', secret,
    logger: { minLevel: 'critical' },
  });
  const id = listener.onStreamOnline('1', () => {}).id;
  const handlers = {};
  listener.apply({ post: (path, handler) => { handlers[path] = handler; }, get: () => {} });
  return post({ headers, body }, (request, response) => {
    request.params = { id };
    handlers['event/:id'](request, response, error => {
      if (!response.headersSent) response.writeHead(500).end(String(error));
    });
  });
};

// The library leaves the content type to its caller.
export const hub = async ({ secret, token, query }) => {
  try {
    return { status: 200, body: whatsapp(secret, token).get(query) };
  } catch (error) {
    return { status: error.httpStatus ?? 500, body: String(error) };
  }
};
