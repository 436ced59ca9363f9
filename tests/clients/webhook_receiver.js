// A receiver of webhooks that verifies each with the npm package standardwebhooks, by each of the secrets it is given.
// It prints a line of JSON: first the port it listens on, then what came in and which secrets fit.

"use strict";

const given = JSON.parse(process.argv[2]);
const http = require("node:http");
const { Webhook } = require(`${given.modules}/standardwebhooks`);

function fits(secret, body, headers) {
  try {
    return new Webhook(secret).verify(body, headers) !== undefined;
  } catch (error) {
    return error.message;
  }
}

const server = http.createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    const verified = {};
    for (const [name, secret] of Object.entries(given.secrets)) {
      verified[name] = fits(secret, body, request.headers);
    }
    const tampered = fits(Object.values(given.secrets)[0], Buffer.from(body.toString() + " "), request.headers);
    console.log(JSON.stringify({ id: request.headers["webhook-id"], verified, tampered, body: body.toString() }));
    response.writeHead(204).end();
  });
});
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
