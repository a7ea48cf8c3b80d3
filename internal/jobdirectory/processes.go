package jobdirectory

// processesFolder has a file for each node with what is known of the processes there.
const processesFolder = "processes"
