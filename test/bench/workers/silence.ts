// Turns off the request log, because a benchmark would measure the pipe to the terminal.
console.log = () => {}
console.info = () => {}
